// Names of clusters on the map: free places, and which regions a box meets.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load, plain } from "./load.js";

const NAMES = "pages/explore/map_names.js";
const TRIANGLE = [
  [0, 0],
  [100, 0],
  [0, 100],
];

test("a box meets a region that it lies in, cuts or holds, and none whose bounds alone it meets", () => {
  const { boxMeetsRegion } = load(NAMES);
  assert.equal(boxMeetsRegion([10, 10, 20, 20], TRIANGLE), true);
  assert.equal(boxMeetsRegion([40, 40, 90, 90], TRIANGLE), true);
  assert.equal(boxMeetsRegion([-10, -10, 200, 200], TRIANGLE), true);
  assert.equal(boxMeetsRegion([60, 60, 90, 90], TRIANGLE), false);
  assert.equal(boxMeetsRegion([120, 0, 130, 10], TRIANGLE), false);
});

test("a region on a line is met where the line passes", () => {
  const { boxMeetsRegion } = load(NAMES),
    line = [
      [0, 0],
      [100, 100],
    ];
  assert.equal(boxMeetsRegion([40, 40, 60, 60], line), true);
  assert.equal(boxMeetsRegion([60, 10, 80, 30], line), false);
});

test("a name stands above its region, else below it, and nowhere where all is taken", () => {
  const { freePlace } = load(NAMES),
    room = { bounds: [[40, 40, 80, 80]], others: [], taken: [], width: 200, height: 200, w: 20, h: 10 };
  assert.deepEqual(plain(freePlace(room)), [50, 27]);
  assert.deepEqual(plain(freePlace({ ...room, taken: [[0, 0, 200, 39]] })), [50, 83]);
  const other = [
    [0, 0],
    [200, 0],
    [200, 30],
    [0, 30],
  ];
  assert.deepEqual(plain(freePlace({ ...room, others: [other] })), [50, 83]);
  assert.equal(freePlace({ ...room, taken: [[0, 0, 200, 200]] }), undefined);
});
