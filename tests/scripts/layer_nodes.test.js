// All nodes of a graph: places of the entities in their cells, what is nearest to the pointer, squares in the pixels.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load, plain } from "./load.js";

const NODES = "pages/explore/layer_nodes.js";
const packed = (numbers) => Buffer.from(Uint16Array.from(numbers).buffer).toString("base64");

// A root at (50, 10) over two clusters, (20, 30) and (80, 30), with an entity in the first and three in the second.
const SENT = {
  step: 2,
  bands: [{ layer: 2 }, { layer: 1 }, { layer: 0 }],
  counts: [4, 2, 1],
  places: packed([100, 20, 40, 60, 160, 60]),
  parents: packed([65_535, 0, 0]),
  cells: packed([1, 1, 40, 120, 20, 40, 2, 3, 160, 120, 60, 40]),
  relations: packed([3, 4]),
};
const spread = () => load(NODES).spreadNodes(SENT, 2);

test("entities lie in the cells of their clusters, upper nodes at their places", () => {
  const { n, upper, layers, x, y, parents, byHue } = spread();
  assert.deepEqual([n, upper], [7, 3]);
  assert.deepEqual(plain([...layers]), [2, 1, 1, 0, 0, 0, 0]);
  assert.deepEqual(plain([...parents]), [65_535, 0, 0, 1, 2, 2, 2]);
  assert.deepEqual(plain([...x].slice(0, 3)), [50, 20, 80]);
  // The cell of the first cluster: 10 by 20 px around (20, 60); of the second: 30 by 20 px around (80, 60).
  assert.ok(Math.abs(x[3] - 20) <= 5 && Math.abs(y[3] - 60) <= 10);
  for (const at of [4, 5, 6]) assert.ok(Math.abs(x[at] - 80) <= 15 && Math.abs(y[at] - 60) <= 10);
  assert.equal(new Set([4, 5, 6].map((at) => `${x[at]} ${y[at]}`)).size, 3);
  assert.deepEqual(plain(byHue.map((each) => [...each])), [[4, 5, 6], [3]]);
});

test("the pointer meets the nearest node within its reach, wherever the picture was moved", () => {
  const { nearestNode } = load(NODES),
    view = { scaleX: 2, scaleY: 1, left: -10, top: 5 };
  assert.equal(nearestNode(spread(), view, 30, 36, 9), 1); // its place in the window is (30, 35)
  assert.equal(nearestNode(spread(), view, 30, 45, 9), null);
});

test("squares fill the pixels of their hue, and none beyond the edge", () => {
  const { fillSquares } = load(NODES),
    image = { width: 12, height: 10, data: new Uint8ClampedArray(12 * 10 * 4) },
    nodes = { x: [2, 11.8], y: [3, 3], byHue: [[0], [1]] },
    view = { scaleX: 1, scaleY: 1, left: 0, top: 0, dense: 1 };
  fillSquares(image, nodes, { view, hues: ["#0a1420", "#ffffff"], side: 2 });
  const at = (x, y) => [...image.data.subarray(4 * (12 * y + x), 4 * (12 * y + x) + 4)];
  for (const place of [at(1, 2), at(2, 2), at(1, 3), at(2, 3)]) assert.deepEqual(place, [10, 20, 32, 153]);
  assert.equal(image.data.filter((each) => each > 0).length, 4 * 4);
});
