// The icicle of a site: which blocks below the open one have room, and where; pages/explore/blocks.js draws them.
const SITE_HEIGHT = 596,
  SITE_GAP = 3,
  SITE_NAME = 23, // the least height of a block with its name
  SITE_FOLDED = 26,
  SITE_COLUMNS = 4,
  SITE_CELLS = 120;

// The children that are drawn, from `skip` on, with their heights, and the height that is left for the folded ones.
function siteFolding(weights, height, least, skip) {
  const room = (n) => n * (least + SITE_GAP) - SITE_GAP + (n < weights.length ? SITE_FOLDED + SITE_GAP : 0);
  let n = Math.min(weights.length - skip, 1000);
  while (n > 1 && room(n) > height) n -= 1;
  const named = weights.slice(skip, skip + n),
    fold = n < weights.length ? SITE_FOLDED : 0,
    free = height - SITE_GAP * (n - 1) - (fold ? fold + SITE_GAP : 0) - n * least,
    total = named.reduce((sum, weight) => sum + weight, 0) || 1;
  return { n, fold, sizes: named.map((weight) => least + (free * weight) / total) };
}

// What blocks.js draws below the open block. lit: ids that the search met.
function siteIcicle(store, focus, { say, skip, lit }) {
  const [top, root] = focus,
    lowest = Math.max(0, top - SITE_COLUMNS + 1),
    blocks = [],
    id = (layer, row) => `${layer}.${row}`;
  const node = (layer, row) => {
    const name = store.name([layer, row]),
      shown = lit.has(id(layer, row)) ? { lit: true } : {};
    if (!layer) return { id: id(layer, row), name, type: store.type([layer, row]), ...shown };
    const about = say("explore.about.aggregated", { name, layer, n: store.layers[layer].below[row] });
    return { id: id(layer, row), name, about, inner: layer, ...shown };
  };
  const sub = (layer, row, inner) => {
    const n = layer ? store.layers[layer].below[row] : 0;
    if (!layer) return "";
    const entities = say("explore.block.entities", { n });
    return layer > 1 ? say("explore.block.clusters", { n: inner, entities }) : entities;
  };
  const place = (layer, row, parent, y, height) => {
    const inner = layer > lowest ? store.children(layer, row) : [],
      x = top - layer;
    /** @type {Record<string, any>} */
    const block = {
      ...node(layer, row),
      parent,
      layer,
      x,
      y,
      width: 1,
      height,
      inner: inner.length,
      sub: sub(layer, row, inner.length),
    };
    blocks.push(block);
    if (layer - 1 === lowest) block.cells = inner.slice(0, SITE_CELLS).map((child) => node(lowest, child));
    if (layer - 1 <= lowest || !inner.length) return;
    const weights = inner.map((child) => store.layers[layer - 1].below[child]),
      least = layer - 2 > lowest ? SITE_NAME + SITE_GAP + SITE_FOLDED : SITE_NAME,
      first = layer === top ? skip : 0,
      folding = siteFolding(weights, height, least, first);
    let from = y;
    folding.sizes.forEach((size, at) => {
      place(layer - 1, inner[first + at], block.id, from, size);
      from += size + SITE_GAP;
    });
    if (folding.fold) fold(layer - 1, [...inner.slice(0, first), ...inner.slice(first + folding.n)], block.id, from);
  };
  const fold = (layer, rows, parent, y) => {
    let owner = parent;
    for (let number = layer; number > lowest; number -= 1) {
      const folded = rows.reduce((sum, row) => sum + store.inside(layer, row, number), 0),
        name = say("explore.more.clusters", { n: folded }),
        n = rows.reduce((sum, row) => sum + store.layers[layer].below[row], 0),
        block = {
          id: `more:${number}:${parent}`,
          parent: owner,
          layer: number,
          x: top - number,
          y,
          width: 1,
          height: SITE_FOLDED,
          folded,
          name,
        };
      const about = say("explore.about.folded", { what: name, layer: number });
      blocks.push({
        ...block,
        short: `+${folded}`,
        about,
        sub: say("explore.block.entities", { n }),
        inner: 0,
        cells: [],
      });
      owner = block.id;
    }
  };
  place(top, root, "", 0, SITE_HEIGHT);
  const columns = Array.from({ length: top - lowest + 1 }, (_, x) => {
    const layer = top - x,
      total = store.inside(top, root, layer),
      named = blocks.filter((block) => block.layer === layer && !block.folded).length;
    if (!x) return { layer, text: say("explore.head.open") };
    if (layer === lowest) return { layer, text: say("explore.head.strongest", { total }), total };
    return { layer, text: named === total ? String(total) : say("explore.head.named", { named, total }), total };
  });
  return { blocks, columns, nodes: columns.reduce((sum, column) => sum + (column.total ?? 1), 0) };
}

// Where a click on folded blocks leads: to its parent, or, where that is open, to its next children.
function siteUnfold(store, focus, opened, { skip, shown }) {
  const [, , parent] = opened.split(":"),
    at = store.place(parent);
  if (at.join(".") !== focus.join(".")) return { focus: parent, skip: 0 };
  const next = skip + Math.max(1, shown);
  return { focus: parent, skip: next < store.children(...focus).length ? next : 0 };
}
