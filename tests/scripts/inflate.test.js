// Deflated data is drawn once it is inflated, and never after newer data.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import inflating from "../../pages/common/inflate.js";

const deflated = (value) => new Uint8Array(deflateSync(Buffer.from(JSON.stringify(value))));
const later = () => new Promise((done) => setTimeout(done, 50));

test("deflated data is drawn with all else of the component, and its listeners are removed", async () => {
  const seen = [];
  const mount = inflating(({ data, key }) => {
    seen.push([key, data]);
    return () => seen.push("removed");
  });
  const remove = mount({ key: "play", data: deflated({ name: "蜜蜂", n: [1, 2] }) });
  await later();
  remove();
  assert.deepEqual(seen, [["play", { name: "蜜蜂", n: [1, 2] }], "removed"]);
});

test("data that is not deflated is drawn at once", () => {
  assert.equal(inflating(({ data }) => data.n)({ data: { n: 3 } }), 3);
});

test("data is not drawn when newer data came before it was inflated", async () => {
  const seen = [];
  const mount = inflating(({ data }) => seen.push(data) && undefined);
  mount({ data: deflated("old") })();
  mount({ data: deflated("new") });
  await later();
  assert.deepEqual(seen, ["new"]);
});
