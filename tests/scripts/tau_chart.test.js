// The chart of tau: how many pairs of clusters it says.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.js";

test("one pair is one pair, and thousands are separated", () => {
  const context = load("pages/explore/tau_chart.js");
  context.thousands = (n) => n.toLocaleString("en");
  const words = { pair: "1 pair", pairs: "{count} pairs" };
  assert.equal(context.pairsOf(1, words), "1 pair");
  assert.equal(context.pairsOf(0, words), "0 pairs");
  assert.equal(context.pairsOf(1200, words), "1,200 pairs");
});
