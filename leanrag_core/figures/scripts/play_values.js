// The values of a play as they were sent, made into records again: see play_values.py. Behind layers.js.
const STRINGS = ["id", "role", "kind", "colour", "shape", "source", "target", "card", "parent", "change"];
const STRING_LISTS = ["members", "items", "relations", "focus"];

function unpackPlay(sent) {
  const { strings } = sent,
    named = (places) => (places ?? []).map((place) => strings[place]);
  const value = (name, held) =>
    STRINGS.includes(name) ? strings[held] : STRING_LISTS.includes(name) ? named(held) : held;
  const records = (columns) => {
    const names = Object.keys(columns),
      rows = (columns[names[0]] ?? []).map(() => ({}));
    for (const name of names)
      columns[name].forEach((held, row) => {
        if (held !== null) rows[row][name] = value(name, held);
      });
    return rows;
  };
  const lines = (columns) =>
    records(columns).map(({ points, ...line }) => ({ ...line, points: pointsBetween(points) }));
  const byId = (columns, read) => Object.fromEntries(records(columns).map((record) => [record.id, read(record)]));
  return {
    ...sent,
    items: byId(sent.items, (item) => item),
    lines: byId(sent.lines, (line) => line.about),
    layouts: sent.layouts.map((graph) => ({
      ...graph,
      nodes: records(graph.nodes),
      edges: lines(graph.edges),
      rows: records(graph.rows),
    })),
    cards: sent.cards.map((band) => ({ ...band, cards: records(band.cards), threads: lines(band.threads) })),
    frames: records(sent.frames).map((frame) => ({
      rest: "",
      items: [],
      relations: [],
      focus: [],
      tokens: [],
      ...frame,
    })),
    segments: records(sent.segments),
    sections: records(sent.sections),
    signs: records(sent.signs),
    spans: records(sent.spans),
    holding: byId(sent.holding, (held) => held.items ?? []),
    entered: named(sent.entered),
    left: named(sent.left),
    marks: byId(sent.marks ?? {}, (relation) => relation.mark),
  };
}

// A link between bands, or, where the height of its middle is given, a curve.
function pointsBetween([x1, y1, x2, y2, middle]) {
  return middle === undefined
    ? treePoints([x1, y1], [x2, y2])
    : [
        [x1, y1],
        [(x1 + x2) / 2, middle],
        [x2, y2],
      ];
}
