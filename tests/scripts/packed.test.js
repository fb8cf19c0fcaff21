// Values that come deflated are drawn once they are inflated, and never behind newer ones.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import unpacked from "../../pages/common/packed.js";

const packed = (value) => new Uint8Array(deflateSync(Buffer.from(JSON.stringify(value))));
const later = () => new Promise((done) => setTimeout(done, 50));

test("the script gets the values and all else of the component, and puts its listeners away", async () => {
  const seen = [];
  const mount = unpacked(({ data, key }) => {
    seen.push([key, data]);
    return () => seen.push("away");
  });
  const leave = mount({ key: "play", data: packed({ name: "蜜蜂", n: [1, 2] }) });
  await later();
  leave();
  assert.deepEqual(seen, [["play", { name: "蜜蜂", n: [1, 2] }], "away"]);
});

test("values are not drawn when others have come before they were inflated", async () => {
  const seen = [];
  const mount = unpacked(({ data }) => seen.push(data) && undefined);
  mount({ data: packed("old") })();
  mount({ data: packed("new") });
  await later();
  assert.deepEqual(seen, ["new"]);
});
