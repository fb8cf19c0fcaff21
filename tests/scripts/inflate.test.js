// Deflated data is drawn once it is inflated, and never after newer data; what a drawing listens with ends with it.
import assert from "node:assert/strict";
import { test } from "node:test";
import { deflateSync } from "node:zlib";

import inflating from "../../pages/common/inflate.js";

const deflated = (value) => new Uint8Array(deflateSync(Buffer.from(JSON.stringify(value))));

// Mounts a component that notes what it draws and when its listeners are removed; returns draw(data), the notes, and
// until(n), which waits for so many of them.
function noted() {
  const seen = [],
    parentElement = {};
  const mount = inflating(({ data, key }) => {
    seen.push([key, data]);
    return () => seen.push(`removed ${data.name}`);
  });
  const until = async (n) => {
    for (let tries = 0; seen.length < n && tries < 2000; tries++) await new Promise((done) => setTimeout(done, 5));
  };
  return { seen, until, draw: (data) => mount({ key: "play", data, parentElement }) };
}

test("deflated data is drawn with all else of the component, and its listeners are removed once", async () => {
  const { seen, until, draw } = noted();
  const remove = draw(deflated({ name: "蜜蜂", n: [1, 2] }));
  await until(1);
  remove();
  remove();
  assert.deepEqual(seen, [["play", { name: "蜜蜂", n: [1, 2] }], "removed 蜜蜂"]);
});

test("data that is not deflated is drawn at once", () => {
  const { seen, draw } = noted();
  draw({ name: "bee" });
  assert.deepEqual(seen, [["play", { name: "bee" }]]);
});

test("listeners of a drawing are removed before newer data is drawn in its place", async () => {
  const { seen, until, draw } = noted();
  draw({ name: "old" });
  draw(deflated({ name: "new" }));
  await until(3);
  assert.deepEqual(seen, [["play", { name: "old" }], "removed old", ["play", { name: "new" }]]);
});

test("a component elsewhere keeps its listeners", () => {
  const [here, elsewhere] = [noted(), noted()];
  elsewhere.draw({ name: "bee" });
  here.draw({ name: "ant" });
  assert.deepEqual(elsewhere.seen, [["play", { name: "bee" }]]);
});

test("data is not drawn when newer data came before it was inflated", async () => {
  const { seen, until, draw } = noted();
  draw(deflated({ name: "old" }));
  draw(deflated({ name: "new" }));
  await until(1);
  assert.deepEqual(seen, [["play", { name: "new" }]]);
});
