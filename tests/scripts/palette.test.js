// What the palette lists for what is written.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load, plain } from "./load.js";

const { grouped, pieces, wordsOf } = load("pages/palette/palette_match.js");
const KINDS = ["page", "entity", "setting"];
const item = (kind, title, more = {}) => ({ kind, title, ...more });
const titles = (items, text) =>
  plain(grouped(items, text, KINDS, 6)).flatMap((group) => group.items.map((each) => each.title));

test("words match in any order, in any case and without their accents", () => {
  const items = [item("entity", "Société des Abeilles"), item("entity", "Abeille"), item("page", "Explore")];
  assert.deepEqual(titles(items, "abeilles SOCIETE"), ["Société des Abeilles"]);
  assert.deepEqual(titles(items, "société"), ["Société des Abeilles"]);
  assert.deepEqual(titles(items, "wasp"), []);
});

test("Chinese matches by any of its characters in a row", () => {
  assert.deepEqual(titles([item("page", "设置"), item("setting", "每分钟请求数")], "请求"), ["每分钟请求数"]);
});

test("the first letters of words match, and letters from their midst do not", () => {
  const items = [item("setting", "Requests per minute"), item("setting", "Warp models")];
  assert.deepEqual(titles(items, "rpm"), ["Requests per minute"]);
});

test("the kind of the best match comes first, and in a kind what begins with the text", () => {
  const items = [
    item("page", "Start", { also: "ask" }),
    item("setting", "A task"),
    item("setting", "Ask twice"),
    item("entity", "Ask"),
  ];
  assert.deepEqual(titles(items, "ask"), ["Ask", "Ask twice", "A task", "Start"]);
});

test("without a text everything is listed, no more than so many of a kind", () => {
  const items = Array.from({ length: 9 }, (_, n) => item("page", `P${n}`));
  assert.equal(grouped(items, "", KINDS, 6)[0].items.length, 6);
});

test("what was written is marked where it stands, also under an accent", () => {
  assert.deepEqual(plain(pieces("Über uber <b>", wordsOf("uber"))), [
    ["Über", true],
    [" ", false],
    ["uber", true],
    [" <b>", false],
  ]);
});
