// Draws the layered subgraph as SVG. Every text is set by textContent; colours are the page's --lr-* properties.
const NS = "http://www.w3.org/2000/svg";
const FONT = '"Source Sans","Source Sans Pro",system-ui,sans-serif';
const pen = document.createElement("canvas").getContext("2d");

function make(tag, attributes, parent, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function wrap(text, width, most, font) {
  pen.font = font;
  const fits = (line) => pen.measureText(line).width <= width;
  const shorten = (line) => { while (line && !fits(line + "…")) line = line.slice(0, -1); return line.trimEnd() + "…"; };
  const lines = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    const longer = line ? line + " " + word : word;
    if (line && !fits(longer)) { lines.push(line); line = word; } else line = longer;
  }
  lines.push(line);
  if (lines.length > most) { lines.length = most; lines[most - 1] = shorten(lines[most - 1] + " …").replace(/ ……$|……$/, "…"); }
  return lines.map((one) => (fits(one) ? one : shorten(one)));
}

function draw(host, data, pick) {
  const width = host.clientWidth || 700, small = width < 520;
  const left = small ? 8 : 86, right = small ? 8 : 22, span = width - left - right;
  const X = (x) => left + span * x, Y = (y) => y * (small ? 1.12 : 1);
  const height = Y(data.height);
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": data.label });
  const at = Object.fromEntries(data.nodes.map((node) => [node.id, node]));
  for (const [place, row] of data.rows.entries()) {
    if (place % 2 === 0) make("rect", { class: "band", x: 0, y: Y(row.top), width, height: Y(row.bottom) - Y(row.top), rx: 4 }, svg);
    make("text", { class: "row", x: small ? 4 : 10, y: Y(row.top) + 16 }, svg, small ? `L${row.layer}` : row.label);
    if (!small) make("text", { class: "facts", x: 10, y: Y(row.top) + 31 }, svg, row.facts);
  }
  const links = make("g", {}, svg), boxes = make("g", {}, svg), pills = make("g", {}, svg);
  const radius = small || data.n_seeds > 15 ? (data.n_seeds > 30 ? 7 : 9) : 12;
  const size = small ? 10.5 : 12.5, step = size + 2;
  const half = {}, boxed = {}; // half the height of each drawn node; width and lines of each box
  for (const node of data.nodes) {
    half[node.id] = radius;
    if (node.kind === "dot" || node.kind === "fold") continue;
    const w = Math.max(26, node.width * span - 4);
    const shown = node.role === "seed" && node.rank ? `${node.rank}  ${node.name}` : node.name;
    const lines = wrap(shown, w - 12, w < 90 ? 3 : 2, `600 ${size}px ${FONT}`);
    const h = Math.max(26, lines.length * step + 10);
    boxed[node.id] = { w, h, lines };
    half[node.id] = h / 2;
  }
  const taken = [];
  for (const edge of data.edges) {
    const a = at[edge.source], b = at[edge.target];
    if (!a || !b || (!edge.lit && edge.kind !== "tree")) continue;
    const [x1, y1, x2, y2] = [X(a.x), Y(a.y), X(b.x), Y(b.y)];
    let path;
    if (edge.kind === "tree") {
      const middle = (y1 + y2) / 2;
      path = `M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`;
    } else {
      const [s, t] = [y1 - half[a.id] + 3, y2 - half[b.id] + 3], peak = Math.min(s, t) - edge.rise * 2;
      path = `M${x1} ${s}Q${(x1 + x2) / 2} ${peak} ${x2} ${t}`;
      if (edge.pill) {
        const px = (x1 + x2) / 2, py = Math.max(9, (s + 2 * peak + t) / 4), text = `λ ${Math.round(edge.strength)}`;
        pen.font = `650 11px ${FONT}`;
        const w = pen.measureText(text).width + 10;
        if (!taken.some(([qx, qy, qw]) => Math.abs(qx - px) < (qw + w) / 2 + 2 && Math.abs(qy - py) < 18)) {
          taken.push([px, py, w]);
          make("rect", { class: "pill", x: px - w / 2, y: py - 8, width: w, height: 16, rx: 8 }, pills);
          make("text", { class: "lambda", x: px, y: py + 4 }, pills, text);
        }
      }
    }
    const wide = edge.kind === "inter-cluster" ? Math.min(4.5, 1.5 + 0.3 * edge.strength) : "";
    const line = make("path", { class: `edge ${edge.kind}${edge.lit ? "" : " later"}`, d: path }, links);
    if (wide) line.style.strokeWidth = edge.pill ? wide : 1.3;
    if (wide && !edge.pill) line.style.opacity = 0.6;
    make("title", {}, line, edge.about);
  }
  for (const node of data.nodes) {
    const x = X(node.x), y = Y(node.y);
    const group = make("g", { class: `node ${node.role} ${node.kind}${node.lit ? "" : " later"}${data.picked === node.id ? " picked" : ""}` }, boxes);
    make("title", {}, group, node.about);
    if (node.kind === "fold") { make("text", { class: "facts", x: x - 4, y, "text-anchor": "end" }, group, node.name); continue; }
    group.setAttribute("tabindex", "0"); group.setAttribute("role", "button"); group.setAttribute("aria-label", node.about);
    group.onclick = () => pick(node.id);
    group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick(node.id); } };
    if (node.kind === "dot") {
      make("circle", { class: "ring", cx: x, cy: y, r: radius + 3.5 }, group);
      make("circle", { class: "shape", cx: x, cy: y, r: radius }, group);
      make("text", { class: "rank", x, y: y + (radius > 9 ? 4.2 : 3.6), style: `font-size:${radius > 9 ? 12 : radius > 7 ? 10.5 : 9}px` }, group, node.rank ?? "");
      if (node.named && !small) {
        const slot = (span / Math.max(1, data.n_seeds)) * 1.8, base = y + radius + 14 + node.line * 27;
        if (node.line) make("path", { class: "stem", d: `M${x} ${y + radius + 3}V${base - 11}` }, group);
        const room = Math.max(60, Math.min(slot, 2 * (x - 4), 2 * (width - x - 2)));
        wrap(node.name, room, 2, `500 12px ${FONT}`).forEach((line, n) => make("text", { class: "name", x, y: base + n * 13 }, group, line));
      }
      continue;
    }
    const { w, h, lines } = boxed[node.id];
    const box = (out, name) => make("rect", { class: name, x: x - w / 2 - out, y: y - h / 2 - out, width: w + 2 * out, height: h + 2 * out, rx: (node.kind === "double" ? 3 : 6) + out }, group);
    box(6.5, "ring");
    if (node.kind === "double") box(3.5, "outer");
    box(0, "shape");
    lines.forEach((line, n) => make("text", { class: "label", x, y: y + (n - (lines.length - 1) / 2) * step + size * 0.35, style: `font-size:${size}px` }, group, line));
  }
  host.replaceChildren(svg);
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-graph"), list = parentElement.querySelector(".lr-seedlist");
  const redraw = () => {
    const held = document.activeElement && host.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    draw(host, data, (id) => setTriggerValue("picked", id));
    if (held) [...host.querySelectorAll(".node")].find((node) => node.getAttribute("aria-label") === held)?.focus();
    const listed = host.clientWidth < 520 || data.n_seeds > 15;
    list.hidden = !listed;
    list.replaceChildren(...data.nodes.filter((node) => node.kind === "dot" && node.rank).sort((a, b) => a.rank - b.rank).map((node) => {
      const item = document.createElement("li");
      item.value = node.rank; item.textContent = node.name;
      return item;
    }));
  };
  redraw();
  let drawn = host.clientWidth;
  const watcher = new ResizeObserver(() => { if (Math.abs(host.clientWidth - drawn) > 6) { drawn = host.clientWidth; redraw(); } });
  watcher.observe(host);
  return () => watcher.disconnect();
}
