// The subgraph of a play: drawn once for a width, then lit frame by frame without anything that moves its place.

// The widest of the layouts that the plot has room for; data.cards has the same order.
function layoutFor(data, span) {
  let best = 0;
  data.layouts.forEach((layout, place) => {
    if (layout.plot_px <= span) best = place;
  });
  return best;
}

// Draws everything of the play, all of it unlit. open(kind, id) is called when a node, tray or card is chosen.
function drawPlay(host, data, words, open) {
  const width = host.clientWidth || 700,
    small = width < 520;
  const left = small ? 6 : 78,
    right = small ? 6 : 14,
    span = width - left - right,
    X = (x) => left + span * x;
  const place = layoutFor(data, span),
    graph = data.layouts[place],
    band = data.cards[place];
  const height = band.bottom || graph.height;
  const svg = make("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": filled(words.label, { n: Object.keys(data.items).length }),
  });
  const rows = band.bottom ? [...graph.rows, { ...band, layer: "" }] : graph.rows;
  drawBands(rows, { width, small }, svg);
  const threads = make("g", {}, svg),
    links = make("g", {}, svg),
    boxes = make("g", {}, svg),
    pills = make("g", {}, svg);
  const view = { X, span, width, small, data, words, open };
  for (const edge of graph.edges)
    drawEdge({ ...edge, about: data.lines[edge.id], lit: true, shape: edge.shape || "line" }, X, links).dataset.id =
      edge.id;
  for (const node of graph.nodes) drawPlayNode(node, view, boxes);
  for (const thread of band.threads) drawThread(thread, X, threads);
  for (const card of band.cards) drawCard(card, view, boxes);
  host.replaceChildren(svg);
  return { svg, graph, pills, X, small };
}

/** Fills in {1} and {2} of a sentence.
 * @param {string} template
 * @param {{n: string | number, total?: string | number}} values
 */
function filled(template, { n, total }) {
  return template.replace("{1}", () => `${n}`).replace("{2}", () => `${total}`);
}

function drawPlayNode(node, view, parent) {
  const { X, span, small, data, words } = view,
    item = data.items[node.id] ?? {},
    x = X(node.x),
    w = node.width * span;
  const change = item.change ? ` ${item.change}` : "";
  const group = make(
    "g",
    { class: `node ${node.kind}${node.filled ? " filled" : ""}${change}`, "data-id": node.id, "data-role": node.role },
    parent,
  );
  paint(group, node.colour);
  const names = (node.members ?? []).map((id) => data.items[id]?.name);
  make(
    "title",
    {},
    group,
    names.length
      ? sentencesInRow(filled(words.holds, { n: names.length }), names.slice(0, 12).join(signs().semicolon))
      : (item.about ?? ""),
  );
  press(group, () => view.open(node.members ? "tray" : "node", node.id));
  const name = node.name ?? item.name ?? "",
    sign = { entered: "+ ", left: "− " }[item.change] ?? "";
  if (node.kind === "tray") drawTray(node, x, w, view, group);
  else if (node.kind === "dot" || node.kind === "disc")
    drawSeed({ ...node, name: sign + name, score: item.score }, view, x, group);
  else if (node.kind === "fold")
    drawBox({ ...node, x, width: w, name: filled(words.more, { n: node.members.length }), size: 11 }, group);
  else
    drawBox(
      { ...node, x, width: w, name: sign + (node.rank ? `${node.rank}  ${name}` : name), size: small ? 10.5 : 12 },
      group,
    );
}

// Reached by Tab (the first) and by arrows (the others); Enter and Space choose.
function press(group, act) {
  group.setAttribute("tabindex", "-1");
  group.setAttribute("role", "button");
  group.onclick = act;
  group.onkeydown = (event) => {
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      event.stopPropagation();
      act();
    }
  };
}

function drawSeed(node, { span, small }, x, group) {
  const y = node.y,
    dot = node.kind === "dot",
    radius = dot && !small ? node.height / 2 : Math.min(9, node.height / 2);
  drawDisc({ x, y, radius, rank: node.rank ?? "", size: radius > 9 ? 12 : 10.5, gap: dot ? 3.5 : 2 }, group);
  if (!dot || small) return;
  if (typeof node.score === "number")
    make("text", { class: "score", x, y: y - radius - 6 }, group, node.score.toFixed(2));
  const base = y + radius + 14 + (node.line ?? 0) * 27;
  if (node.line) make("path", { class: "stem", d: `M${x} ${y + radius + 3}V${base - 11}` }, group);
  wrap(node.name, node.room * span - 5, 2, `500 12px ${FONT}`).forEach((line, n) =>
    writeName("name", { x, y: base + n * 13 }, group, line),
  );
}

function drawTray(node, x, width, { words }, group) {
  const w = width - 1,
    left = x - w / 2,
    top = node.y - node.height / 2;
  make("rect", { class: "ring", x: left - 3, y: top - 3, width: w + 6, height: node.height + 6, rx: 8 }, group);
  make("rect", { class: "tray-shape", x: left, y: top, width: w, height: node.height, rx: 5 }, group);
  const lines = (node.names ?? []).flatMap((name) => wrap(name, w - 12, node.name_lines ?? 1, `500 12px ${FONT}`));
  lines.forEach((line, n) =>
    writeName("tray-name", { x: left + 6, y: node.names_y + 11 + n * 15 }, group, line, left + w - 6),
  );
  if (node.more && lines.length)
    make(
      "text",
      { class: "tray-more", x: left + 6, y: node.names_y + 11 + lines.length * 15 },
      group,
      filled(words.more, { n: node.more }),
    );
}

// The state of a frame: ids of all that is lit, what is new in it, what its sentence is about, what came by the climb
// alone, and what is held.
function stateAt(data, place) {
  const lit = new Set(),
    relations = new Set(),
    frame = data.frames[place];
  for (const earlier of data.frames.slice(0, place + 1)) {
    earlier.items.forEach((id) => lit.add(id));
    earlier.relations.forEach((id) => relations.add(id));
  }
  Object.entries(data.items).forEach(([id, item]) => {
    if (item.change === "left") lit.add(id);
  });
  data.left.forEach((id) => relations.add(id));
  const fresh = new Set([...frame.items, ...frame.relations]);
  return { lit, relations, fresh, focus: new Set(frame.focus), frame, brought: new Set(), held: "" };
}

// Gives every mark the classes of that state; only what is new may move, and only where moving is wanted.
function lightPlay(drawn, data, state, moves) {
  const members = Object.fromEntries(
    drawn.graph.nodes.filter((node) => node.members).map((node) => [node.id, node.members]),
  );
  const any = (set) => (id) => (members[id] ? members[id].some((inner) => set.has(inner)) : set.has(id));
  const [lit, fresh, focus] = [any(state.lit), any(state.fresh), any(state.focus)];
  const held = new Set();
  let delay = 0;
  for (const group of drawn.svg.querySelectorAll("[data-card]")) {
    const id = group.dataset.card,
      ids = members[id] ?? group.cardMembers ?? [id];
    const seen = ids.some((each) => state.lit.has(each)),
      now = ids.some((each) => state.focus.has(each)) && state.focus.size === 1;
    classes(group, { later: !seen, now, new: moves && ids.some((each) => state.fresh.has(each)) });
    for (const thread of drawn.svg.querySelectorAll(`[data-to-card="${CSS.escape(id)}"]`)) {
      classes(thread, { shown: seen, now });
      if (now) held.add(thread.dataset.source);
    }
    if (now) for (const each of data.holding?.[ids[0]] ?? []) held.add(each);
  }
  const nodes = [...drawn.svg.querySelectorAll(".node[data-id]")].sort(
    (a, b) => (data.items[a.dataset.id]?.rank ?? 99) - (data.items[b.dataset.id]?.rank ?? 99),
  );
  for (const group of nodes) {
    const id = group.dataset.id,
      isNew = moves && fresh(id);
    classes(group, {
      later: !lit(id),
      now: state.focus.size < 4 && focus(id) && !group.classList.contains("tray"),
      new: isNew,
      held: held.has(id) && !group.classList.contains("tray"),
    });
    group.style.setProperty("--wait", isNew ? `${Math.min(1200, 60 * delay++)}ms` : "0ms");
  }
  drawn.pills.replaceChildren();
  const taken = [],
    pilled = [];
  for (const edge of drawn.graph.edges) {
    const line = drawn.svg.querySelector(`.edge[data-id="${CSS.escape(edge.id)}"]`);
    const isTree = isTreeLink(edge, data);
    const on = isTree ? lit(edge.source) && lit(edge.target) : state.relations.has(edge.id);
    const change = data.entered.includes(edge.id) ? "entered" : data.left.includes(edge.id) ? "left" : "";
    classes(line, {
      later: !on && isTree,
      absent: !on && !isTree,
      new:
        moves &&
        on &&
        (isTree ? fresh(edge.source) || fresh(edge.target) || state.fresh.has(edge.id) : state.fresh.has(edge.id)),
      entered: change === "entered",
      left: change === "left",
    });
    if (on && edge.pill) pilled.push({ ...edge, sign: state.brought.has(edge.id) ? CLIMB_SIGN : "" });
  }
  for (const edge of pilled.sort((a, b) => b.strength - a.strength)) drawPill(edge, drawn.X, drawn.pills, taken);
  for (const node of drawn.svg.querySelectorAll(".score")) classes(node, { shown: state.frame.step === 0 });
  signBrought(drawn, any(state.brought));
  setOff(drawn, joinedTo(drawn.graph, data, state.held));
}

/** Tells whether an edge links a node and its parent. */
function isTreeLink(edge, data) {
  const [a, b] = [data.items[edge.source], data.items[edge.target]];
  return edge.id.startsWith("tray-") || a?.parent === edge.target || b?.parent === edge.source;
}

/** Returns the ids of what an item or a relation is shown with: a relation with its ends, a node with its parent and
 * children, a passage with the items that lead to it; nothing where it is not drawn.
 * @param {{nodes: {id: string, members?: string[]}[], edges: {id: string, source: string, target: string}[]}} graph
 * @param {{items: Object, holding: Object}} data
 * @param {string} id
 */
function joinedTo(graph, data, id) {
  const relation = graph.edges.find((edge) => edge.id === id);
  if (relation) return new Set([id, relation.source, relation.target]);
  const trayOf = new Map(graph.nodes.flatMap((node) => (node.members ?? []).map((member) => [member, node.id])));
  const known = data.items[id];
  if (!known) return new Set();
  const own = trayOf.get(id) ?? id;
  const joined = new Set([id, own, ...(data.holding[id] ?? []).flatMap((each) => [each, trayOf.get(each) ?? each])]);
  if (known.is_card) return joined;
  for (const edge of graph.edges.filter((each) => isTreeLink(each, data) && [each.source, each.target].includes(own)))
    for (const each of [edge.id, edge.source, edge.target]) joined.add(each);
  return joined;
}

// Sets what is joined off from all else.
function setOff(drawn, joined) {
  drawn.svg.classList.toggle("holding", joined.size > 0);
  for (const mark of drawn.svg.querySelectorAll(".node[data-id], .edge[data-id]"))
    mark.classList.toggle("kept", joined.has(mark.dataset.id));
  for (const thread of drawn.svg.querySelectorAll(".thread"))
    thread.classList.toggle("kept", joined.has(thread.dataset.toCard) && joined.has(thread.dataset.source));
}

const CLIMB_SIGN = "▲";

// A sign at the corner of each node that came by the climb alone; on an arc it stands beside its strength. All nodes are
// measured before the first sign is drawn: after each sign the browser would compute the styles of the figure again.
function signBrought(drawn, brought) {
  for (const sign of drawn.svg.querySelectorAll(".climb-sign")) sign.remove();
  const groups = [...drawn.svg.querySelectorAll(".node[data-id]:not(.later):has(.shape, .card-shape)")];
  const corners = groups
    .filter((group) => brought(group.dataset.id))
    .map((group) => ({ group, box: group.querySelector(".shape, .card-shape").getBBox() }));
  for (const { group, box } of corners)
    make("text", { class: "climb-sign", x: box.x + box.width, y: box.y + 4 }, group, CLIMB_SIGN);
}

function classes(element, wanted) {
  for (const [name, on] of Object.entries(wanted)) element.classList.toggle(name, Boolean(on));
}
