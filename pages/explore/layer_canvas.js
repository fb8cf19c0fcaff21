// Tens of thousands of nodes on a canvas. While the picture moves, the strongest relations alone are drawn; all of them
// once it is at rest. Names are placed by the room there is, focus first.
const MOVING_RELATIONS = 1200,
  REST = 140, // ms without a movement
  MOST_LABELS = 70,
  CROWD = 300, // nodes of an aggregated layer; more of them are drawn smaller
  MOST_DISCS = 1500; // more entities are squares, which are filled faster
const DOT = [2.1, 3.2, 5, 7, 9];

function drawAll(state, width) {
  const { figure, own, data } = state,
    { all } = data,
    nodes = allNodes(state),
    dense = window.devicePixelRatio || 1;
  const began = performance.now(),
    { k } = own,
    stretch = width / all.width,
    { height } = all;
  own.x = Math.min(0, Math.max(width * (1 - k), own.x));
  own.y = Math.min(0, Math.max(height * (1 - k), own.y));
  let canvas = figure.querySelector("canvas");
  if (!canvas) {
    canvas = document.createElement("canvas");
    canvas.setAttribute("role", "img");
    canvas.tabIndex = 0;
    canvas.style.touchAction = "none";
    figure.replaceChildren(canvas);
    canvas.onclick = (event) => {
      const at = own.dragged ? null : nearest(state, event, 12);
      if (at !== null) {
        own.picked = `#${at}`;
        state.redraw();
        chosenNode(state);
        state.ask(event.detail > 1 ? "centre" : "pick", `#${at}`);
      }
    };
    canvas.onmousemove = (event) => {
      const at = nearest(state, event, 9);
      canvas.style.cursor = at === null ? "default" : "pointer";
      canvas.title = at === null ? "" : (named(state).get(at) ?? named(state).get(nodes.parents[at]) ?? "");
    };
  }
  canvas.setAttribute("aria-label", data.label);
  if (canvas.width !== Math.round(width * dense) || canvas.height !== Math.round(height * dense)) {
    Object.assign(canvas, { width: Math.round(width * dense), height: Math.round(height * dense) });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const moving = own.framed === 0 && own.moved && began - own.moved < REST;
  own.view = { scaleX: stretch * k, scaleY: k, left: own.x, top: own.y, dense };
  const pen2d = canvas.getContext("2d");
  pen2d.setTransform(dense, 0, 0, dense, 0, 0);
  paintAll({ ...state, nodes, pen2d, width, height, moving });
  clearTimeout(own.resting);
  if (moving)
    own.resting = setTimeout(() => {
      own.moved = 0;
      state.redraw();
    }, REST);
  own.cost = performance.now() - began;
}

function named({ own, data }) {
  if (own.namedOf !== data.nodes) {
    own.namedOf = data.nodes;
    own.names = new Map(data.nodes.map((node) => [node.at, node.name]));
  }
  return own.names;
}

function nearest({ own, figure }, event, reach) {
  const box = figure.getBoundingClientRect();
  return nearestNode(own.nodes, own.view, event.clientX - box.x, event.clientY - box.y, reach);
}

function paintAll({ own, data, nodes, pen2d, width, height, moving }) {
  const { all, hues } = data,
    { k } = own,
    { scaleX, scaleY, left, top } = own.view,
    colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--lr-${name}`).trim();
  const X = (at) => nodes.x[at] * scaleX + left,
    Y = (at) => nodes.y[at] * scaleY + top,
    grow = Math.min(2.2, Math.sqrt(k));
  const palette = (own.palette ??= Object.fromEntries(
    ["bg", "band", "text", "mute", "path", "prim", "base", "tree"].map((name) => [name, colour(name)]),
  ));
  pen2d.globalAlpha = 1;
  pen2d.fillStyle = palette.bg;
  pen2d.fillRect(0, 0, width, height);
  pen2d.fillStyle = palette.band;
  all.bands.forEach((band, place) => {
    if (place % 2 === 0) pen2d.fillRect(0, band.top * k + own.y, width, (band.bottom - band.top) * k);
  });
  const shown = (at) => {
    const x = X(at),
      y = Y(at);
    return x > -8 && y > -8 && x < width + 8 && y < height + 8;
  };
  lines(pen2d, palette.base, 0.1, 1, (add) => {
    // relations of the base, the strongest first
    const most = moving ? Math.min(nodes.relations.length, 2 * MOVING_RELATIONS) : nodes.relations.length;
    for (let each = 0; each < most; each += 2)
      if (shown(nodes.relations[each]) || shown(nodes.relations[each + 1]))
        add(
          X(nodes.relations[each]),
          Y(nodes.relations[each]),
          X(nodes.relations[each + 1]),
          Y(nodes.relations[each + 1]),
        );
  });
  lines(pen2d, palette.path, 0.22, 1, (add) => {
    // links of the tree above the base
    for (let at = 0; at < nodes.upper; at += 1)
      if (nodes.parents[at] !== NOBODY && (!moving || nodes.upper <= 400 || nodes.layers[at] > 1))
        add(X(at), Y(at), X(nodes.parents[at]), Y(nodes.parents[at]));
  });
  paintEntities(pen2d, nodes, { view: { ...own.view, grow }, hues, shown, own });
  const disc = (at, radius, fill, stroke) => {
    pen2d.beginPath();
    pen2d.arc(X(at), Y(at), radius, 0, 7);
    if (fill) {
      pen2d.fillStyle = fill;
      pen2d.fill();
    }
    if (stroke) {
      pen2d.strokeStyle = stroke;
      pen2d.lineWidth = 1.8;
      pen2d.stroke();
    }
  };
  pen2d.globalAlpha = 0.85;
  pen2d.fillStyle = palette.path;
  for (let layer = 1; layer < all.bands.length; layer += 1) {
    const radius = DOT[Math.min(layer, 4)] * grow * Math.min(1, Math.max(0.4, Math.sqrt(CROWD / all.counts[layer])));
    pen2d.beginPath();
    for (let at = 0; at < nodes.upper; at += 1)
      if (nodes.layers[at] === layer && shown(at)) {
        pen2d.moveTo(X(at), Y(at));
        pen2d.arc(X(at), Y(at), radius, 0, 7);
      }
    pen2d.fill();
  }
  pen2d.globalAlpha = 1;
  const focus = data.focus,
    lit = [...nodes.hops];
  if (focus !== null)
    lines(
      pen2d,
      palette.text,
      0.7,
      1.6,
      (add) => {
        for (const [at, hops] of lit) if (hops === 1) add(X(focus), Y(focus), X(at), Y(at));
      },
      [1.5, 3.5],
    );
  if (focus !== null)
    lines(pen2d, palette.path, 1, 2.2, (add) => {
      for (let at = focus; nodes.parents[at] !== NOBODY; at = nodes.parents[at])
        add(X(at), Y(at), X(nodes.parents[at]), Y(nodes.parents[at]));
    });
  for (const [at, hops] of lit.reverse())
    disc(at, [8, 5.5, 4.5][hops], hops === 2 ? palette.bg : palette.path, hops === 2 ? palette.path : palette.bg);
  if (focus !== null) disc(focus, 12, null, palette.prim);
  const picked = own.picked?.startsWith("#") ? Number(own.picked.slice(1)) : null;
  if (picked !== null && picked < nodes.n) disc(picked, 10, null, palette.text);
  const heads = all.bands.map((band) => [
    0,
    Math.max(band.top * k + own.y, 0),
    width < 520 ? 26 : 24 + 6.6 * (band.label.length + band.facts.length),
    Math.max(band.top * k + own.y, 0) + 24,
  ]);
  labels({ heads, own, data, pen2d, width, height, palette, X, Y, moving });
  pen2d.font = `650 12.5px ${FONT}`;
  all.bands.forEach((band) => {
    halo(
      pen2d,
      width < 520 ? `L${band.layer}` : `${band.label}  ${band.facts}`,
      width < 520 ? 5 : 12,
      Math.max(band.top * k + own.y, 0) + 18,
      palette.mute,
      palette,
    );
  });
}

// Entities in the hue of their cluster: discs, and where there are many of them squares.
function paintEntities(pen2d, nodes, { view, hues, shown, own }) {
  const { scaleX, scaleY, left, top } = view,
    radius = Math.min(4, DOT[0] * Math.sqrt(4000 / nodes.n)) * view.grow;
  if (nodes.n > MOST_DISCS) {
    const { canvas } = pen2d;
    own.squares ??= document.createElement("canvas");
    if (own.squares.width !== canvas.width || own.squares.height !== canvas.height)
      Object.assign(own.squares, { width: canvas.width, height: canvas.height });
    const surface = own.squares.getContext("2d"),
      image = surface.createImageData(canvas.width, canvas.height),
      side = Math.max(1, Math.round(radius * 1.8 * view.dense));
    fillSquares(image, nodes, { view, hues, side });
    surface.putImageData(image, 0, 0);
    pen2d.drawImage(own.squares, 0, 0, canvas.width / view.dense, canvas.height / view.dense);
    return;
  }
  pen2d.globalAlpha = ENTITY_ALPHA;
  nodes.byHue.forEach((entities, hue) => {
    pen2d.fillStyle = hues[hue];
    pen2d.beginPath();
    for (const at of entities)
      if (shown(at)) {
        const x = nodes.x[at] * scaleX + left,
          y = nodes.y[at] * scaleY + top;
        pen2d.moveTo(x, y);
        pen2d.arc(x, y, radius, 0, 7);
      }
    pen2d.fill();
  });
}

// Lines in short paths: one path of thousands of lines is slow to fill in.
function lines(pen2d, colour, alpha, width, draw, dashes = []) {
  Object.assign(pen2d, { strokeStyle: colour, globalAlpha: alpha, lineWidth: width });
  pen2d.setLineDash(dashes);
  let n = 0;
  pen2d.beginPath();
  draw((x1, y1, x2, y2) => {
    pen2d.moveTo(x1, y1);
    pen2d.lineTo(x2, y2);
    n += 1;
    if (n % 100 === 0) {
      pen2d.stroke();
      pen2d.beginPath();
    }
  });
  pen2d.stroke();
  pen2d.setLineDash([]);
  pen2d.globalAlpha = 1;
}

function halo(pen2d, text, x, y, colour, palette) {
  Object.assign(pen2d, { lineWidth: 3.5, lineJoin: "round", strokeStyle: palette.bg, fillStyle: colour });
  pen2d.strokeText(text, x, y);
  pen2d.fillText(text, x, y);
}

function labels({ heads, own, data, pen2d, width, height, palette, X, Y, moving }) {
  const taken = [...heads],
    most = heads.length + (moving ? 24 : MOST_LABELS);
  const match = (node) => data.search && node.name.toLocaleLowerCase().includes(data.search);
  const order = data.nodes
    .map((node) => [
      node.id === own.picked ? -1 : match(node) ? 0.5 : node.hops < 3 ? node.hops : 4 - Math.min(node.layer, 4) + 2,
      node,
    ])
    .sort((a, b) => a[0] - b[0]);
  for (const [, node] of order) {
    if (taken.length >= most) break;
    const x = X(node.at),
      y = Y(node.at),
      size = node.hops === 0 ? 14.5 : 12;
    if (x < 0 || y < 0 || x > width || y > height) continue;
    pen2d.font = `${node.hops < 2 || node.layer > 1 ? 650 : 550} ${size}px ${FONT}`;
    const name = node.name.length > LABEL_LETTERS ? `${node.name.slice(0, LABEL_LETTERS - 1)}…` : node.name,
      w = (own.widths ??= new Map()).get(name + size) ?? pen2d.measureText(name).width;
    own.widths.set(name + size, w);
    for (const [left, base] of [
      [x + 11, y + 4],
      [x - 11 - w, y + 4],
      [x - w / 2, y - 11],
      [x - w / 2, y + 19],
    ]) {
      const box = [left - 2, base - size, left + w + 2, base + 4];
      if (
        box[0] < 0 ||
        box[2] > width ||
        box[1] < 0 ||
        box[3] > height ||
        taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3])
      )
        continue;
      taken.push(box);
      halo(pen2d, name, left, base, node.hops < 2 || node.layer > 0 ? palette.text : palette.mute, palette);
      if (match(node)) {
        pen2d.strokeStyle = palette.prim;
        pen2d.lineWidth = 2.5;
        pen2d.beginPath();
        pen2d.arc(x, y, 8, 0, 7);
        pen2d.stroke();
      }
      break;
    }
  }
}

// The canvas as a picture for a file.
// theme: see figureTools.
function canvasPicture(state, theme) {
  const { figure, own, data } = state;
  if (theme) {
    const { hues } = data;
    own.palette = undefined;
    data.hues = theme.hues;
    state.redraw();
    theme.after.push(() => {
      own.palette = undefined;
      data.hues = hues;
      state.redraw();
    });
  }
  const canvas = figure.querySelector("canvas"),
    svg = make("svg", {
      width: canvas.clientWidth,
      height: canvas.clientHeight,
      viewBox: `0 0 ${canvas.clientWidth} ${canvas.clientHeight}`,
    });
  make("image", { width: canvas.clientWidth, height: canvas.clientHeight, href: canvas.toDataURL("image/png") }, svg);
  return svg;
}
