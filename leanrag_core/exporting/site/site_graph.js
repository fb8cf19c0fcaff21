// The graph of a site: an entity with its neighbours, parents and children in rows of layers, or all nodes at once.
// pages/explore/layer_graph.js draws both.
const SITE_SIZES = [
    { width: 350, left: 30, right: 44, boxes: 3, dots: 14 },
    { width: 800, left: 92, right: 60, boxes: 6, dots: 36 },
  ],
  SITE_BAND = 92,
  SITE_BASE = 330, // px of height
  SITE_BOX = 38,
  SITE_FAR = 3; // hops of what is neither in focus nor next to it

// The nodes around the focus, as the script names them: [layer, row] of each, with hops and whether it is above the focus.
async function siteNodes(store, focus) {
  const [layer, row] = focus,
    { relations } = await store.about(layer, row),
    nodes = new Map();
  const add = (place, hops, line = false) => {
    if (!nodes.has(place.join("."))) nodes.set(place.join("."), { place, hops, line });
  };
  add(focus, 0, true);
  for (const above of store.ancestors(...focus)) add(above, SITE_FAR, true);
  for (const relation of relations.slice(0, SITE_SIZES[1].dots)) add(relation.place, 1);
  if (layer)
    for (const child of store.children(layer, row).slice(0, SITE_SIZES[1].dots)) add([layer - 1, child], SITE_FAR);
  for (const { place } of [...nodes.values()])
    if (place[0] === layer && layer < store.top) add([layer + 1, store.layers[layer].parents[place[1]]], SITE_FAR);
  return { nodes: [...nodes.values()], relations };
}

async function siteScene(store, focus, say) {
  const { nodes, relations } = await siteNodes(store, focus),
    at = new Map(nodes.map(({ place }, number) => [place.join("."), number])),
    named = (place) => `\u2068${store.name(place)}\u2069`;
  const shown = nodes.map(({ place, hops, line }, rank) => {
    const [layer, row] = place,
      above = layer < store.top ? at.get(`${layer + 1}.${store.layers[layer].parents[row]}`) : undefined,
      what = layer ? say("explore.graph.children", { n: store.children(layer, row).length }) : store.type(place);
    return {
      id: place.join("."),
      name: store.name(place),
      layer,
      hops,
      line,
      parent: above ?? null,
      open: hops === 0,
      pinned: false,
      rank,
      about: [named(place), `L${layer}`, what, say(`explore.graph.hops.${hops}`)]
        .filter(Boolean)
        .join(say("explore.graph.comma")),
    };
  });
  const links = relations
    .filter((relation) => at.has(relation.place.join(".")))
    .map((relation) => ({
      a: 0,
      b: at.get(relation.place.join(".")),
      layer: focus[0],
      s: relation.strength,
      hops: 1,
      about: say(focus[0] ? "explore.graph.arc" : "explore.graph.relation", {
        source: named(focus),
        target: named(relation.place),
        kind: siteKind(relation.kind, say),
        strength: relation.strength,
      }),
    }));
  const total = store.layers[focus[0]].degrees[focus[1]],
    layouts = SITE_SIZES.map((size) => siteLayout(store, shown, { size, total, say }));
  return { nodes: shown, links, focus: 0, top: store.top, layouts };
}

function siteKind(kind, say) {
  const code = `explore.inspect.kind.${kind}`;
  return say.knows(code) ? say(code) : kind;
}

// total: relations of the focus; a bubble counts those that are not drawn.
function siteLayout(store, nodes, { size, total, say }) {
  const layers = [...new Set(nodes.map((node) => node.layer))].sort((a, b) => b - a),
    places = [],
    clouds = [],
    bubbles = [],
    bands = [];
  let top = 0;
  const wide = size.width - size.left - size.right;
  for (const layer of layers) {
    const all = nodes.map((node, at) => ({ node, at })).filter(({ node }) => node.layer === layer),
      most = layer ? size.boxes : size.dots,
      row = all.filter(({ node }, place) => node.line || place < most).slice(0, most),
      height = layer ? SITE_BAND : SITE_BASE;
    row.sort((a, b) => (a.node.parent ?? 0) - (b.node.parent ?? 0) || a.at - b.at);
    if (layer) {
      const each = wide / row.length,
        width = Math.min(190, each - 10);
      row.forEach(({ at }, place) =>
        places.push([at, size.left + each * (place + 0.5), top + height / 2 + 4, width, SITE_BOX]),
      );
    } else siteClouds(row, { left: size.left, top: top + 46, width: wide, height: height - 80 }, places, clouds);
    bands.push({
      layer,
      top,
      bottom: top + height,
      label: say("explore.graph.layer", { n: layer }),
      facts: say("explore.shown_of", { shown: row.length, total: store.values.sizes[layer] }),
    });
    const count = layer === nodes[0].layer ? total - row.filter(({ node }) => node.hops === 1).length : 0;
    if (count > 0)
      bubbles.push({ of: null, layer, count, x: size.width - 30, y: top + 22, closed: false, cloud: null });
    top += height;
  }
  return { width: size.width, height: top, bands, places, clouds, bubbles };
}

// Entities side by side by their clusters, in each spread evenly over its cloud.
function siteClouds(row, room, places, clouds) {
  const groups = new Map();
  for (const each of row) groups.set(each.node.parent, [...(groups.get(each.node.parent) ?? []), each]);
  let left = room.left;
  const total = [...groups.values()].reduce((sum, own) => sum + Math.sqrt(own.length), 0);
  for (const [parent, own] of groups) {
    const width = (room.width * Math.sqrt(own.length)) / total,
      x = left + width / 2,
      lower = clouds.length % 2 ? 0.62 : 0.38, // neighbours stand higher and lower, so that names have room
      y = room.top + room.height * (groups.size > 2 ? lower : 0.5),
      radiusX = Math.max(16, width / 2 - 12),
      radiusY = Math.min(room.height / 2 - 6, 26 + 14 * Math.sqrt(own.length));
    own.forEach(({ at }, place) => {
      const share = own.length > 1 ? Math.sqrt((place + 0.5) / own.length) : 0,
        angle = place * Math.PI * (3 - Math.sqrt(5));
      places.push([
        at,
        x + share * radiusX * 0.8 * Math.cos(angle),
        y + share * radiusY * 0.85 * Math.sin(angle),
        0,
        0,
      ]);
    });
    clouds.push({
      node: parent ?? -1,
      x,
      y,
      radius_x: radiusX,
      radius_y: radiusY,
      dots: own.map(({ at }) => at),
      hue: clouds.length,
    });
    left += width;
  }
}

// All nodes at once: the script names them by their positions, as "#12".
async function siteWhole(store, focus, picked) {
  const shard = await store.load("graph");
  if (!shard.positions) {
    shard.places = [];
    for (const { layer } of shard.all.bands)
      for (let n = 0; n < shard.all.counts[layer]; n += 1) shard.places.push([layer, shard.rows[shard.places.length]]);
    shard.positions = new Map(shard.places.map((place, at) => [place.join("."), at]));
  }
  const { relations } = await store.about(...focus),
    position = (place) => shard.positions.get(place.join(".")),
    hops = new Map([[position(focus), 0]]);
  for (const { place } of relations) if (!hops.has(position(place))) hops.set(position(place), 1);
  hops.delete(undefined);
  const names = new Map(shard.named.map((each) => [each[0], each]));
  for (const at of [position(picked), ...hops.keys()]) {
    if (at === undefined) continue;
    const place = shard.places[at];
    names.set(at, [at, store.name(place), place[0], hops.get(at) ?? SITE_FAR]);
  }
  const at = (place) => position(place) ?? null,
    id = (place) => (at(place) === null ? "" : `#${at(place)}`);
  return {
    all: { ...shard.all, hops: [...hops] },
    named: [...names.values()],
    focus: at(focus),
    picked: id(picked) || null,
    focus_id: id(focus),
    drawn: shard.rows.length,
    total: shard.total,
    links: [],
    layouts: [],
    idOf: (text) => (text.startsWith("#") ? shard.places[Number(text.slice(1))].join(".") : text),
  };
}
