// Marks of the graph in layers: where the name of a cloud stands.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.js";

const { cloudNamePlace } = load("leanrag_core/figures/scripts/svg.js", "pages/explore/layer_marks.js");
const CLOUD = { x: 200, top: 100, bottom: 180 },
  ROOM = [0, 0, 400, 300];
const place = (taken, widths = [100, 60, 40]) => {
  const found = cloudNamePlace(CLOUD, widths, taken, ROOM);
  return found && [found.name, found.left, found.y];
};

test("the name of a cloud stands above its middle, else below it", () => {
  assert.deepEqual(place([]), [0, 150, 102]);
  assert.deepEqual(place([[190, 60, 210, 110]]), [0, 150, 190]);
});

test("where the middle is taken above and below, the name stands beside it", () => {
  const column = [195, 0, 205, 300];
  assert.deepEqual(place([column]), [0, 80, 102]);
  assert.deepEqual(place([column, [0, 0, 190, 300]]), [0, 220, 102]);
});

test("where no whole name is free a shorter one is, and none where all is taken", () => {
  assert.deepEqual(
    place([
      [0, 0, 175, 300],
      [225, 0, 400, 300],
    ]),
    [2, 180, 102],
  );
  assert.equal(place([[0, 0, 400, 300]]), undefined);
});
