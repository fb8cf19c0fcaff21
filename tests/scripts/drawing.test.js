// What the scripts of the drawings compute: lines of text, cells, orders and places.
import assert from "node:assert/strict";
import { test } from "node:test";

import { load, plain } from "./load.js";

const FIGURES = "leanrag_core/figures/scripts";
const atMost = (letters) => (text) => text.length <= letters;

test("a text that fits is not cut, and a longer one ends with an ellipsis", () => {
  const { cut } = load(`${FIGURES}/svg.js`);
  assert.equal(cut("honey", atMost(5)), "honey");
  assert.equal(cut("honeybee", atMost(5)), "hone…");
  assert.equal(cut("bee keeping", atMost(5)), "bee…"); // no blank before the ellipsis
});

test("a score is written as the pages write it", () => {
  const { scoreText } = load(`${FIGURES}/svg.js`);
  assert.deepEqual(
    [0.8, 0.75, 1, 0, -0.2, -0.001].map((value) => scoreText(value, 2)),
    [".80", ".75", "1.00", ".00", "−.20", ".00"],
  );
  assert.equal(scoreText(0.8, 1), ".8");
});

test("lines break between words, and a word that is too long has a line of its own", () => {
  const { linesOf } = load(`${FIGURES}/svg.js`);
  assert.deepEqual(plain(linesOf("a bee in a hive", atMost(6))), ["a bee", "in a", "hive"]);
  assert.deepEqual(plain(linesOf("a honeybee", atMost(6))), ["a", "honeybee"]);
  assert.deepEqual(plain(linesOf("", atMost(6))), [""]);
});

test("Chinese, which has no blanks, breaks between characters and never before punctuation", () => {
  const { linesOf } = load(`${FIGURES}/svg.js`);
  assert.deepEqual(plain(linesOf("蜜蜂在蜂箱里过冬。", atMost(4))), ["蜜蜂在蜂", "箱里过", "冬。"]);
  assert.deepEqual(plain(linesOf("用 oxalic acid 处理", atMost(9))), ["用 oxalic", "acid 处理"]);
});

test("the last of too many lines ends with an ellipsis", () => {
  const { wrap } = load(`${FIGURES}/svg.js`, `${FIGURES}/layers.js`);
  assert.deepEqual(plain(wrap("a bee in a hive", 60, 2)), ["a bee", "in a …"]);
});

test("an arc rises above the higher of its ends", () => {
  const { arcPoints } = load(`${FIGURES}/svg.js`, `${FIGURES}/layers.js`);
  assert.deepEqual(plain(arcPoints([0, 30], [10, 20], 4)), [
    [0, 30],
    [5, 12],
    [10, 20],
  ]);
});

test("the columns of a play become records, and places in the list of strings become strings", () => {
  const { unpackPlay } = load(`${FIGURES}/svg.js`, `${FIGURES}/play_values.js`);
  const column = { id: [0, 1], n: [3, null] };
  const none = Object.fromEntries(["segments", "sections", "signs", "spans", "holding"].map((name) => [name, {}]));
  const sent = { ...none, strings: ["bee", "hive"], items: column, lines: {}, layouts: [], frames: {}, cards: [] };
  assert.deepEqual(plain(unpackPlay(sent).items), { bee: { id: "bee", n: 3 }, hive: { id: "hive" } });
});

test("a held relation is shown with its ends, a node with its parent and children, a passage with what leads to it", () => {
  const { joinedTo } = load(...["svg", "layers", "play_figure"].map((name) => `${FIGURES}/${name}.js`));
  const items = {
    bee: { parent: "insects" },
    ant: { parent: "insects" },
    insects: {},
    hives: {},
    C1: { is_card: true },
  };
  const data = { items, holding: { C1: ["bee"] } };
  const nodes = [{ id: "bee" }, { id: "tray", members: ["ant"] }, { id: "insects" }, { id: "hives" }];
  const edge = (id, source, target) => ({ id, source, target });
  const edges = [edge("up", "bee", "insects"), edge("tray-up", "tray", "insects"), edge("arc", "insects", "hives")];
  const joined = (id) => [...joinedTo({ nodes, edges }, data, id)].sort();
  assert.deepEqual(joined("arc"), ["arc", "hives", "insects"]);
  assert.deepEqual(joined("insects"), ["bee", "insects", "tray", "tray-up", "up"]);
  assert.deepEqual(joined("ant"), ["ant", "insects", "tray", "tray-up"]); // drawn in its tray
  assert.deepEqual(joined("C1"), ["C1", "bee"]);
  assert.deepEqual(joined("wasp"), []);
});

test("cells fill their rows, and the rest has a cell of its own", () => {
  const { packed } = load(`${FIGURES}/svg.js`, "pages/explore/block_cells.js");
  // A cell is 10 px a letter and 18 px wide, the rest 46 px, 2 px between them: 58 + 2 + 58 in a row of 120 px.
  const cells = ["bees", "hive", "wasp"].map((name) => ({ name }));
  const names = (rows) => plain(rows.map((row) => row.map(({ cell }) => cell.name ?? cell.rest)));
  assert.deepEqual(names(packed(cells, 3, 120, 52, 26)), [["bees", "hive"], ["wasp"]]);
  assert.deepEqual(names(packed(cells, 5, 120, 52, 26)), [
    ["bees", "hive"],
    ["wasp", 2],
  ]);
  assert.deepEqual(names(packed(cells, 3, 120, 26, 26)), [["bees", 2]]);
});

test("a layer whose cells are all drawn says how many they are, another one how many of them are", () => {
  const { headText } = load(
    `${FIGURES}/svg.js`,
    ...["block_cells", "block_shapes", "blocks"].map((name) => `pages/explore/${name}.js`),
  );
  const columns = [
    { layer: 1, text: "open", total: 1 },
    { layer: 0, text: "strongest of 2", total: 2 },
  ];
  const data = { columns, language: "en" };
  const blocks = [{ layer: 1 }, { layer: 0 }, { layer: 0, folded: 1 }];
  assert.equal(headText(columns[1], data, blocks), "strongest of 2");
  assert.equal(headText(columns[1], data, [...blocks.slice(0, 2), { layer: 0 }]), "2");
  assert.equal(headText(columns[0], data, blocks), "open");
});

test("clusters without a value come last, whichever way a table is sorted", () => {
  const { boardRows } = load(`${FIGURES}/svg.js`, "pages/explore/clusters.js");
  const rows = [
    ["a", "Ants", 4, 0.2],
    ["b", "Bees", 9, null],
    ["w", "Wasps", 2, 0.7],
  ];
  const ids = (sort) => plain(boardRows(rows, sort)).map((row) => row[0]);
  assert.deepEqual(ids(["cohesion", true]), ["a", "w", "b"]);
  assert.deepEqual(ids(["cohesion", false]), ["w", "a", "b"]);
  assert.deepEqual(ids(["name", false]), ["w", "b", "a"]);
});

test("seeds at one place are moved apart until neither covers the other", () => {
  const { movedApart } = load(`${FIGURES}/svg.js`, "pages/explore/map_panel.js", "pages/explore/map.js");
  const [[x1, y1], [x2, y2]] = movedApart(
    [
      [50, 50],
      [50, 50],
    ],
    null,
  );
  assert.ok(Math.hypot(x1 - x2, y1 - y2) > 23);
});

test("a block that passes the filters while nothing in it does has no cells", () => {
  const { cellBoxes } = load(`${FIGURES}/svg.js`, "pages/explore/block_cells.js");
  assert.deepEqual(plain(cellBoxes({ inner: 0 }, {}, 0, 0, 200, 50)), []);
});
