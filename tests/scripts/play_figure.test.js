// The figure of a play: nodes that came by the climb alone are signed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.js";

const scripts = load("leanrag_core/figures/scripts/svg.js", "leanrag_core/figures/scripts/play_figure.js");

test("all nodes are measured before the first sign is drawn", () => {
  const done = [];
  const node = (id) => {
    const getBBox = () => done.push(`measure ${id}`) && { x: 10, y: 20, width: 30 };
    return { dataset: { id }, querySelector: () => ({ getBBox }) };
  };
  const drawn = { svg: { querySelectorAll: (wanted) => (wanted === ".climb-sign" ? [] : ["a", "b", "c"].map(node)) } };
  scripts.make = (tag, { x, y }, { dataset }) => done.push(`sign ${dataset.id} at ${x}, ${y}`);
  scripts.signBrought(drawn, (id) => id !== "b");
  assert.deepEqual(done, ["measure a", "measure c", "sign a at 40, 24", "sign c at 40, 24"]);
});
