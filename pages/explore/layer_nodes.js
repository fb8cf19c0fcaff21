// The nodes of the whole graph as typed arrays: those above the base have their places, entities are spread over the
// cell of their cluster.
const NOBODY = 65_535, // as a position: no parent
  CELL = 6, // numbers of a cell: parent, entities, middle x and y, width and height
  GOLDEN = Math.PI * (3 - Math.sqrt(5)),
  FILLED = 0.42, // of half a cell's width and height
  ENTITY_ALPHA = 0.6;

function unpacked(text) {
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  return new Uint16Array(bytes.buffer);
}

// Typed arrays of the nodes, made once for each picture that arrives.
function allNodes({ own, data }) {
  const { all } = data,
    packed = all.places + all.cells + all.relations;
  if (own.packed !== packed) {
    own.packed = packed;
    own.nodes = spreadNodes(all, data.hues.length);
  }
  own.nodes.hops = new Map(all.hops);
  return own.nodes;
}

// n nodes, of which the first `upper` are above the base. byHue: the entities of each hue; a cluster has one.
function spreadNodes(all, n_hues) {
  const places = unpacked(all.places),
    cells = unpacked(all.cells),
    upper = places.length / 2,
    n = upper + all.counts[0];
  const nodes = {
    n,
    upper,
    layers: new Uint8Array(n),
    x: new Float32Array(n),
    y: new Float32Array(n),
    parents: new Uint16Array(n),
    relations: unpacked(all.relations),
    byHue: [],
  };
  let at = 0;
  for (const { layer } of all.bands)
    if (layer > 0) {
      nodes.layers.fill(layer, at, at + all.counts[layer]);
      at += all.counts[layer];
    }
  nodes.parents.set(unpacked(all.parents));
  for (at = 0; at < upper; at += 1) {
    nodes.x[at] = places[2 * at] / all.step;
    nodes.y[at] = places[2 * at + 1] / all.step;
  }
  for (let cell = 0; cell < cells.length / CELL; cell += 1) {
    const [parent, size, x, y, width, height] = cells.subarray(CELL * cell, CELL * cell + CELL);
    for (let step = 0; step < size; step += 1, at += 1) {
      const radius = (Math.sqrt((step + 0.4) / size) * FILLED) / all.step,
        angle = step * GOLDEN + cell;
      nodes.x[at] = x / all.step + radius * width * Math.cos(angle);
      nodes.y[at] = y / all.step + radius * height * Math.sin(angle);
      nodes.parents[at] = parent;
    }
  }
  for (let hue = 0; hue < n_hues; hue += 1) {
    const own = [];
    for (at = upper; at < n; at += 1) if (nodes.parents[at] % n_hues === hue) own.push(at);
    nodes.byHue.push(Uint16Array.from(own));
  }
  return nodes;
}

// The node that is nearest to a place of the window, within reach, px; null without one.
function nearestNode(nodes, view, x, y, reach) {
  const { scaleX, scaleY, left, top } = view;
  let best = null,
    least = reach * reach;
  for (let at = 0; at < nodes.n; at += 1) {
    const dx = nodes.x[at] * scaleX + left - x,
      dy = nodes.y[at] * scaleY + top - y,
      away = dx * dx + dy * dy;
    if (away < least) {
      least = away;
      best = at;
    }
  }
  return best;
}

// Fills the squares of all entities into the pixels of an image: without a GPU tenfold as fast as a rectangle for each.
// view.dense: pixels of the image in a px of the window. hues: as #rrggbb. side: of a square, in pixels of the image.
function fillSquares(image, nodes, { view, hues, side }) {
  const { scaleX, scaleY, left, top, dense } = view,
    { width, height } = image,
    pixels = new Uint32Array(image.data.buffer), // little-endian: alpha, blue, green, red
    alpha = Math.round(255 * ENTITY_ALPHA) << 24;
  nodes.byHue.forEach((entities, hue) => {
    const red = Number.parseInt(hues[hue].slice(1, 3), 16),
      green = Number.parseInt(hues[hue].slice(3, 5), 16),
      blue = Number.parseInt(hues[hue].slice(5, 7), 16),
      colour = alpha | (blue << 16) | (green << 8) | red;
    for (const at of entities) {
      const x = Math.round((nodes.x[at] * scaleX + left) * dense - side / 2),
        y = Math.round((nodes.y[at] * scaleY + top) * dense - side / 2);
      if (x < 0 || y < 0 || x + side > width || y + side > height) continue;
      for (let row = y * width + x; row < (y + side) * width; row += width)
        for (let pixel = row; pixel < row + side; pixel += 1) pixels[pixel] = colour;
    }
  });
}
