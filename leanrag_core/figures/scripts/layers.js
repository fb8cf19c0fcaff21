// What figures in layers have in common: bands, boxes, discs, links of the tree, arcs with their strength, and places
// for labels. Put behind svg.js and before the script of a figure; its style sheet is layers.css, for hosts of the
// class lr-layers. x is a fraction of the plot's width, which X turns into pixels; y is in pixels.
const RTL = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

// At most so many lines; the last one ends with an ellipsis where there is more.
function wrap(text, width, most, font) {
  const fits = measure(width, font),
    lines = linesOf(text, fits);
  if (lines.length > most) {
    lines.length = most;
    lines[most - 1] = cut(lines[most - 1] + " …", fits).replace(/ ……$|……$/, "…");
  }
  return lines.map((line) => cut(line, fits));
}

// The colour of a role, and a light shade of it for what is outlined.
function paint(element, colour) {
  element.style.setProperty("--c", `var(--lr-${colour})`);
  element.style.setProperty("--f", `var(--lr-${colour}fill,color-mix(in srgb,var(--lr-${colour}) 10%,var(--lr-bg)))`);
}

// A name reads in its own direction; one written from the right begins at the right edge, where there is one.
function writeName(kind, attributes, parent, name, end) {
  const element = make("text", { class: kind, ...attributes }, parent, name);
  element.style.unicodeBidi = "plaintext";
  if (RTL.test(name) && end !== undefined) {
    element.setAttribute("x", end);
    element.style.direction = "rtl";
  }
  return element;
}

// A band a row, every other one tinted, with its label and facts at the left edge.
function drawBands(rows, { width, small }, parent) {
  for (const [place, row] of rows.entries()) {
    if (place % 2 === 0)
      make("rect", { class: "band", x: 0, y: row.top, width, height: row.bottom - row.top, rx: 4 }, parent);
    make(
      "text",
      { class: "row", x: small ? 4 : 10, y: row.top + 16 },
      parent,
      small && row.layer !== "" ? `L${row.layer}` : row.label,
    );
    if (!small) make("text", { class: "facts", x: 10, y: row.top + 31 }, parent, row.facts);
  }
}

// A Bezier curve through its control points: four of a link between bands, three of a curve within one.
function curve(points, X) {
  const [start, ...others] = points.map(([x, y]) => `${X(x)} ${y}`);
  return `M${start}${points.length === 4 ? "C" : "Q"}${others.join(" ")}`;
}

// From the lower edge of a node to the upper edge of one below it, vertical at both.
function treePoints([x1, y1], [x2, y2]) {
  const middle = (y1 + y2) / 2;
  return [
    [x1, y1],
    [x1, middle],
    [x2, middle],
    [x2, y2],
  ];
}

/** Makes an arc that rises that many pixels above both ends.
 * @param {number[]} from [x, y]
 * @param {number[]} to [x, y]
 * @param {number} rise px
 */
function arcPoints([x1, y1], [x2, y2], rise) {
  return [
    [x1, y1],
    [(x1 + x2) / 2, Math.min(y1, y2) - 2 * rise],
    [x2, y2],
  ];
}

// A line of a role: {points, shape (line, dotted, arc), colour, kind, source, target, lit, about, pill, strength}.
function drawEdge(edge, X, parent) {
  const line = make(
    "path",
    {
      class: `edge ${edge.shape}${edge.lit ? "" : " later"}`,
      d: curve(edge.points, X),
      "data-role": edge.kind,
      "data-from": edge.source,
      "data-to": edge.target,
    },
    parent,
  );
  paint(line, edge.colour);
  if (edge.pill) line.style.strokeWidth = Math.min(4.5, 1.5 + 0.3 * edge.strength);
  make("title", {}, line, edge.about);
  return line;
}

// Lambda on its arc, at the first of five places that is free; without a place it is said on hover alone.
function drawPill(edge, X, parent, taken) {
  const [[x1, y1], [xc, yc], [x2, y2]] = edge.points,
    label = edge.label ?? `${edge.sign ? `${edge.sign} ` : ""}λ ${Math.round(edge.strength)}`;
  pen.font = `650 11px ${FONT}`;
  const w = pen.measureText(label).width + 10;
  for (const t of [0.5, 0.36, 0.64, 0.26, 0.74]) {
    const at = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
    const px = X(at(x1, xc, x2)),
      py = at(y1, yc, y2);
    if (
      py > Math.min(y1, y2) - 10 ||
      taken.some(([qx, qy, qw]) => Math.abs(qx - px) < (qw + w) / 2 + 2 && Math.abs(qy - py) < 18)
    )
      continue;
    taken.push([px, py, w]);
    const group = make("g", { class: "strength", "data-from": edge.source, "data-to": edge.target }, parent);
    paint(make("rect", { class: "pill", x: px - w / 2, y: py - 8, width: w, height: 16, rx: 8 }, group), edge.colour);
    make("text", { class: "lambda", x: px, y: py + 4 }, group, label);
    return group;
  }
  return null;
}

/** Draws a filled circle, its rank inside where it has one, and a ring for hover and focus; px.
 * @param {{x: number, y: number, radius: number, rank?: string | number, size?: number, gap?: number}} disc
 * @param {Element} group
 */
function drawDisc({ x, y, radius, rank, size = 10.5, gap = 2 }, group) {
  make("circle", { class: "ring", cx: x, cy: y, r: radius + gap }, group);
  make("circle", { class: "shape", cx: x, cy: y, r: radius }, group);
  if (rank !== null && rank !== undefined)
    make("text", { class: "rank", x, y: y + size * 0.345, style: `font-size:${size}px` }, group, rank);
}

// A box with its name in as many lines as it has room for; kind "double" has a second border.
function drawBox({ x, y, width: w, height: h, name, kind, size = 12 }, group) {
  const step = size + 2,
    lines = wrap(name, w - 8, Math.floor((h - 6) / step), `600 ${size}px ${FONT}`);
  const box = (out, look) =>
    make(
      "rect",
      {
        class: look,
        x: x - w / 2 - out,
        y: y - h / 2 - out,
        width: w + 2 * out,
        height: h + 2 * out,
        rx: (kind === "double" ? 3 : 6) + out,
      },
      group,
    );
  box(kind === "double" ? 6.5 : 3.5, "ring");
  if (kind === "double") box(3.5, "outer");
  box(0, "shape");
  lines.forEach((line, n) =>
    writeName(
      "label",
      { x, y: y + (n - (lines.length - 1) / 2) * step + size * 0.35, style: `font-size:${size}px` },
      group,
      line,
    ),
  );
}

// A place for a label beside its mark: right, left, above or below, the first that meets nothing in `taken` (boxes
// [left, top, right, bottom]) and stays within `room`; null where there is none. The place is added to `taken`.
function placeLabel({ x, y, radius, name, font, size }, taken, room) {
  pen.font = font;
  const w = pen.measureText(name).width,
    gap = radius + 4;
  const places = [
    ["start", x + gap, y + size * 0.35, x + gap],
    ["end", x - gap, y + size * 0.35, x - gap - w],
    ["middle", x, y - gap - 1, x - w / 2],
    ["middle", x, y + gap + size * 0.8, x - w / 2],
  ];
  for (const [anchor, px, py, left] of places) {
    const box = [left - 1, py - size * 0.85, left + w + 1, py + size * 0.3];
    if (room && (box[0] < room[0] || box[1] < room[1] || box[2] > room[2] || box[3] > room[3])) continue;
    if (taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3])) continue;
    taken.push(box);
    return { anchor, x: px, y: py };
  }
  return null;
}

// The label at its place, with a halo of the background that keeps it legible over lines; nothing without a place.
function drawLabel(label, taken, room, parent) {
  const place = placeLabel(label, taken, room);
  if (!place) return null;
  const element = writeName(
    `halo ${label.look ?? ""}`,
    { x: place.x, y: place.y, "text-anchor": place.anchor, style: `font:${label.font}` },
    parent,
    label.name,
  );
  return element;
}

// One node can be reached by Tab; from there the arrows lead to the nearest in their direction.
function walkNodes(host, event) {
  const here = host.getRootNode().activeElement?.closest?.(".node");
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!here || !way) return;
  event.preventDefault();
  const middle = (node) => {
    const box = node.getBoundingClientRect();
    return [box.x + box.width / 2, box.y + box.height / 2];
  };
  const [x, y] = middle(here),
    nodes = [...host.querySelectorAll('.node[role="button"]')].filter((node) => node !== here);
  const reach = (node) => {
    const [dx, dy] = middle(node).map((value, n) => value - [x, y][n]);
    const along = dx * way[0] + dy * way[1],
      aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    return along > 4 ? along + 3 * aside : Infinity;
  };
  const next = nodes.reduce((best, node) => (reach(node) < reach(best) ? node : best), nodes[0]);
  if (!next || reach(next) === Infinity) return;
  for (const node of nodes) node.setAttribute("tabindex", "-1");
  here.setAttribute("tabindex", "-1");
  next.setAttribute("tabindex", "0");
  next.focus();
}
