// Parts of a text are joined with the signs of the page's language.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load } from "./load.js";

const scripts = load("leanrag_core/figures/scripts/svg.js");

function inLanguage(language, act) {
  scripts.document.documentElement.lang = language;
  return act();
}

test("a title and a list of parts have full-width signs on a Chinese page alone", () => {
  const text = () => scripts.withColon("C1", scripts.withCommas("来源文本块", "", "Season Calendar"));
  assert.equal(inLanguage("zh", text), "C1：来源文本块，Season Calendar");
  assert.equal(inLanguage("en", text), "C1: 来源文本块, Season Calendar");
});

test("no space stands behind full-width punctuation that ends a sentence", () => {
  assert.equal(scripts.sentencesInRow("已折叠。", "", "点击打开。", "Click."), "已折叠。点击打开。Click.");
  assert.equal(scripts.sentencesInRow("Folded.", undefined, "Click."), "Folded. Click.");
});
