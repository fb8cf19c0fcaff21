// Draws the layered subgraph with the functions of svg.js.
const RTL = /^[^\p{L}]*[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
// At most so many lines; the last one ends with an ellipsis where there is more.
function wrap(text, width, most, font) {
  const fits = measure(width, font), lines = linesOf(text, fits);
  if (lines.length > most) { lines.length = most; lines[most - 1] = cut(lines[most - 1] + " …", fits).replace(/ ……$|……$/, "…"); }
  return lines.map((line) => cut(line, fits));
}

// The widest of the layouts that the plot has room for.
function chosen(layouts, span) {
  return layouts.filter((layout) => layout.plot_px <= span).pop() || layouts[0];
}

function draw(host, data, pick) {
  const width = host.clientWidth || 700, small = width < 520;
  const left = small ? 6 : 78, right = small ? 6 : 14, span = width - left - right;
  const graph = chosen(data.layouts, span), { height } = graph;
  const X = (x) => left + span * x;
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": data.label });
  for (const [place, row] of graph.rows.entries()) {
    if (place % 2 === 0) make("rect", { class: "band", x: 0, y: row.top, width, height: row.bottom - row.top, rx: 4 }, svg);
    make("text", { class: "row", x: small ? 4 : 10, y: row.top + 16 }, svg, small ? `L${row.layer}` : row.label);
    if (!small) make("text", { class: "facts", x: 10, y: row.top + 31 }, svg, row.facts);
  }
  const links = make("g", {}, svg), boxes = make("g", {}, svg), pills = make("g", {}, svg);
  for (const edge of graph.edges) drawLine(edge, X, links);
  const order = graph.edges.filter((edge) => edge.pill && edge.lit).sort((a, b) => b.strength - a.strength), taken = [];
  for (const edge of order) drawPill(edge, X, pills, taken);
  for (const node of graph.nodes) drawNode(node, { X, span, width, small, graph, picked: data.picked, pick }, boxes);
  host.replaceChildren(svg);
  return graph;
}

// The colour of a role, and a light shade of it for what is outlined.
function paint(element, colour) {
  element.style.setProperty("--c", `var(--lr-${colour})`);
  element.style.setProperty("--f", `var(--lr-${colour}fill,color-mix(in srgb,var(--lr-${colour}) 10%,var(--lr-bg)))`);
}

function drawLine(edge, X, parent) {
  if (!edge.lit && edge.shape !== "line") return;
  const [start, ...others] = edge.points.map(([x, y]) => `${X(x)} ${y}`);
  const d = `M${start}${edge.points.length === 4 ? "C" : "Q"}${others.join(" ")}`;
  const line = make("path", { class: `edge ${edge.shape}${edge.lit ? "" : " later"}`, d, "data-role": edge.kind, "data-from": edge.source, "data-to": edge.target }, parent);
  paint(line, edge.colour);
  if (edge.pill) line.style.strokeWidth = Math.min(4.5, 1.5 + 0.3 * edge.strength);
  make("title", {}, line, edge.about);
}

// Lambda on its arc, at the first of five places where no other stands; without a place it is told on hover.
function drawPill(edge, X, parent, taken) {
  const [[x1, y1], [xc, yc], [x2, y2]] = edge.points, text = `λ ${Math.round(edge.strength)}`;
  pen.font = `650 11px ${FONT}`;
  const w = pen.measureText(text).width + 10;
  for (const t of [0.5, 0.36, 0.64, 0.26, 0.74]) {
    const at = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
    const px = X(at(x1, xc, x2)), py = at(y1, yc, y2);
    if (py > Math.min(y1, y2) - 10 || taken.some(([qx, qy, qw]) => Math.abs(qx - px) < (qw + w) / 2 + 2 && Math.abs(qy - py) < 18)) continue;
    taken.push([px, py, w]);
    paint(make("rect", { class: "pill", x: px - w / 2, y: py - 8, width: w, height: 16, rx: 8 }, parent), edge.colour);
    make("text", { class: "lambda", x: px, y: py + 4 }, parent, text);
    return;
  }
}

function drawNode(node, view, parent) {
  const { X, span, picked, pick } = view, x = X(node.x), marked = picked === node.id ? " picked" : "";
  const look = `${node.kind}${node.filled ? " filled" : ""}${node.lit ? "" : " later"}${marked}`;
  const group = make("g", { class: `node ${look}`, "data-role": node.role, "data-id": node.id }, parent);
  paint(group, node.colour);
  make("title", {}, group, node.about);
  const asked = node.kind === "tray" ? node.id.replace(/^tray-/, "") : node.id;
  if (node.kind !== "fold" && asked && asked !== "fold") {
    group.setAttribute("tabindex", "-1"); group.setAttribute("role", "button"); // its name is its title
    group.onclick = () => pick(asked);
    group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(asked); } };
  }
  if (node.kind === "tray") drawTray(node, X, span, group);
  else if (node.kind === "dot" || node.kind === "disc") drawSeed(node, view, x, group);
  else drawBox(node, view, x, group);
}

function drawSeed(node, { span, small }, x, group) {
  const y = node.y, radius = node.kind === "dot" && !small ? node.height / 2 : Math.min(9, node.height / 2);
  make("circle", { class: "ring", cx: x, cy: y, r: radius + (node.kind === "dot" ? 3.5 : 2) }, group);
  make("circle", { class: "shape", cx: x, cy: y, r: radius }, group);
  make("text", { class: "rank", x, y: y + (radius > 9 ? 4.2 : 3.6), style: `font-size:${radius > 9 ? 12 : 10.5}px` }, group, node.rank ?? "");
  if (node.kind === "disc" || small) return;
  const base = y + radius + 14 + node.line * 27;
  if (node.line) make("path", { class: "stem", d: `M${x} ${y + radius + 3}V${base - 11}` }, group);
  wrap(node.name, node.room * span - 5, 2, `500 12px ${FONT}`).forEach((line, n) => text("name", { x, y: base + n * 13 }, group, line));
}

function drawTray(node, X, span, group) {
  const w = node.width * span - 1, left = X(node.x) - w / 2, top = node.y - node.height / 2;
  make("rect", { class: "ring", x: left - 3, y: top - 3, width: w + 6, height: node.height + 6, rx: 8 }, group);
  make("rect", { class: "tray-shape", x: left, y: top, width: w, height: node.height, rx: 5 }, group);
  const names = node.names.map((name) => wrap(name, w - 12, 1, `500 12px ${FONT}`)[0]);
  names.forEach((name, n) => text("tray-name", { x: left + 6, y: node.names_y + 11 + n * 15 }, group, name, left + w - 6));
  if (node.more) make("text", { class: "tray-more", x: left + 6, y: node.names_y + 11 + names.length * 15 }, group, `+${node.more} more`);
}

function drawBox(node, { span, small }, x, group) {
  const w = node.width * span, h = node.height, size = small ? 10.5 : 12, step = size + 2;
  const shown = node.rank ? `${node.rank}  ${node.name}` : node.name;
  const lines = wrap(shown, w - 8, Math.floor((h - 6) / step), `600 ${size}px ${FONT}`);
  const box = (out, name) => make("rect", { class: name, x: x - w / 2 - out, y: node.y - h / 2 - out, width: w + 2 * out, height: h + 2 * out, rx: (node.kind === "double" ? 3 : 6) + out }, group);
  box(node.kind === "double" ? 6.5 : 3.5, "ring");
  if (node.kind === "double") box(3.5, "outer");
  box(0, "shape");
  lines.forEach((line, n) => text("label", { x, y: node.y + (n - (lines.length - 1) / 2) * step + size * 0.35, style: `font-size:${size}px` }, group, line));
}

// A name reads in its own direction; one written from the right begins at the right edge, where there is one.
function text(kind, attributes, parent, name, end) {
  const element = make("text", { class: kind, ...attributes }, parent, name);
  element.style.unicodeBidi = "plaintext";
  if (RTL.test(name) && end !== undefined) { element.setAttribute("x", end); element.style.direction = "rtl"; }
  return element;
}

// One node can be reached by Tab; from there the arrows lead to the nearest in their direction.
function walk(host, event) {
  const here = document.activeElement?.closest?.(".node");
  const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
  if (!here || !way) return;
  event.preventDefault();
  const middle = (node) => { const box = node.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; };
  const [x, y] = middle(here), nodes = [...host.querySelectorAll('.node[role="button"]')].filter((node) => node !== here);
  const reach = (node) => {
    const [dx, dy] = middle(node).map((value, n) => value - [x, y][n]);
    const along = dx * way[0] + dy * way[1], aside = Math.abs(dx * way[1]) + Math.abs(dy * way[0]);
    return along > 4 ? along + 3 * aside : Infinity;
  };
  const next = nodes.reduce((best, node) => (reach(node) < reach(best) ? node : best), nodes[0]);
  if (!next || reach(next) === Infinity) return;
  for (const node of nodes) node.setAttribute("tabindex", "-1");
  here.setAttribute("tabindex", "-1"); next.setAttribute("tabindex", "0"); next.focus();
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-graph"), list = parentElement.querySelector(".lr-seedlist");
  const redraw = () => {
    const focused = host.contains(document.activeElement) ? document.activeElement.closest(".node")?.dataset.id : null;
    const closed = data.picked ? "" : host.dataset.picked; // its card was open until now: the node has the focus again
    host.dataset.picked = data.picked;
    const held = focused ?? (data.picked || closed);
    const graph = draw(host, data, (id) => setTriggerValue("picked", id));
    const nodes = [...host.querySelectorAll('.node[role="button"]')];
    const start = nodes.find((node) => node.dataset.id === held) ?? nodes[0];
    start?.setAttribute("tabindex", "0");
    const card = document.activeElement?.closest?.('[class*="node_card"]');
    if (focused || (closed && (card || document.activeElement === document.body))) start?.focus();
    list.hidden = host.clientWidth >= 520;
    const seeds = graph.nodes.filter((node) => (node.kind === "dot" || node.kind === "disc") && node.rank).sort((a, b) => a.rank - b.rank);
    list.replaceChildren(...seeds.map((node) => {
      const item = document.createElement("li"), name = document.createElement("bdi");
      item.value = node.rank; name.textContent = node.name; item.append(name);
      return item;
    }));
  };
  host.onkeydown = (event) => { if (event.key === "Escape" && data.picked) setTriggerValue("picked", data.picked); else walk(host, event); };
  redraw();
  let drawn = host.clientWidth;
  const watcher = new ResizeObserver(() => { if (Math.abs(host.clientWidth - drawn) > 6) { drawn = host.clientWidth; redraw(); } });
  watcher.observe(host);
  return () => watcher.disconnect();
}
