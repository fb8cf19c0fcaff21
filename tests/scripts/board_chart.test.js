// Labels of the board's chart: where they stand beside points, other labels and the trail.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load, plain } from "./load.js";

const CHART = "pages/compare/board_chart.js";
const FRAME = [0, 0, 200, 200];
const POINT = [92, 92, 108, 108]; // the box of a point at 100, 100

test("a label stands above its point, and below it where the trail passes above", () => {
  const { boardPlace, boardLineBoxes } = load(CHART),
    place = (lines) => plain(boardPlace([POINT], lines, [100, 100], [40, 14], FRAME, 14));
  assert.deepEqual(place([]), { x: 100, top: 72, anchor: "middle" });
  const above = boardLineBoxes([
    [0, 80],
    [200, 80],
  ]);
  assert.deepEqual(place(above), { x: 100, top: 114, anchor: "middle" });
});

test("a label stands over the trail where there is no other place, and over no other label", () => {
  const { boardPlace, boardLineBoxes } = load(CHART),
    lines = boardLineBoxes(Array.from({ length: 41 }, (_, row) => [row % 2 ? 200 : 0, 5 * row])),
    boxes = [POINT];
  assert.deepEqual(plain(boardPlace(boxes, lines, [100, 100], [40, 14], FRAME, 14)), {
    x: 100,
    top: 72,
    anchor: "middle",
  });
  assert.deepEqual(plain(boardPlace(boxes, lines, [100, 100], [40, 14], FRAME, 14)).top, 114);
  assert.equal(boardPlace([FRAME], [], [100, 100], [40, 14], FRAME, 14), null);
});
