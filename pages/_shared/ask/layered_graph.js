// Draws the layered subgraph with the functions of svg.js and layers.js.

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
  drawBands(graph.rows, { width, small }, svg);
  const links = make("g", {}, svg), boxes = make("g", {}, svg), pills = make("g", {}, svg);
  for (const edge of graph.edges) if (edge.lit || edge.shape === "line") drawEdge(edge, X, links);
  const order = graph.edges.filter((edge) => edge.pill && edge.lit).sort((a, b) => b.strength - a.strength), taken = [];
  for (const edge of order) drawPill(edge, X, pills, taken);
  for (const node of graph.nodes) drawNode(node, { X, span, width, small, graph, picked: data.picked, pick }, boxes);
  host.replaceChildren(svg);
  return graph;
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
  else drawBox({ ...node, x, width: node.width * span, name: node.rank ? `${node.rank}  ${node.name}` : node.name, size: view.small ? 10.5 : 12 }, group);
}

function drawSeed(node, { span, small }, x, group) {
  const y = node.y, radius = node.kind === "dot" && !small ? node.height / 2 : Math.min(9, node.height / 2);
  drawDisc({ x, y, radius, rank: node.rank ?? "", size: radius > 9 ? 12 : 10.5, gap: node.kind === "dot" ? 3.5 : 2 }, group);
  if (node.kind === "disc" || small) return;
  const base = y + radius + 14 + node.line * 27;
  if (node.line) make("path", { class: "stem", d: `M${x} ${y + radius + 3}V${base - 11}` }, group);
  wrap(node.name, node.room * span - 5, 2, `500 12px ${FONT}`).forEach((line, n) => writeName("name", { x, y: base + n * 13 }, group, line));
}

function drawTray(node, X, span, group) {
  const w = node.width * span - 1, left = X(node.x) - w / 2, top = node.y - node.height / 2;
  make("rect", { class: "ring", x: left - 3, y: top - 3, width: w + 6, height: node.height + 6, rx: 8 }, group);
  make("rect", { class: "tray-shape", x: left, y: top, width: w, height: node.height, rx: 5 }, group);
  const names = node.names.map((name) => wrap(name, w - 12, 1, `500 12px ${FONT}`)[0]);
  names.forEach((name, n) => writeName("tray-name", { x: left + 6, y: node.names_y + 11 + n * 15 }, group, name, left + w - 6));
  if (node.more) make("text", { class: "tray-more", x: left + 6, y: node.names_y + 11 + names.length * 15 }, group, `+${node.more} more`);
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
  host.onkeydown = (event) => { if (event.key === "Escape" && data.picked) setTriggerValue("picked", data.picked); else walkNodes(host, event); };
  redraw();
  let drawn = host.clientWidth;
  const watcher = new ResizeObserver(() => { if (Math.abs(host.clientWidth - drawn) > 6) { drawn = host.clientWidth; redraw(); } });
  watcher.observe(host);
  return () => watcher.disconnect();
}
