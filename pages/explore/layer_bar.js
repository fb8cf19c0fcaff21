// Beside the picture: the bar above it, the legend and the list of its nodes below it.
function bar(state) {
  const { root, own, data } = state,
    { words } = data,
    host = root.querySelector(".lr-lg-bar");
  const held = focusedIn(host).name;
  host.replaceChildren();
  const group = (name) => makeElement("div", `lr-lg-group ${name}`, host);
  const button = (parent, name, text, label, run, pressed) => {
    const made = makeButton("", parent, text, run);
    made.dataset.name = name;
    if (label) {
      made.setAttribute("aria-label", label);
      made.title = label;
    }
    if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
  };
  const detail = group("segments"),
    hops = group("segments"),
    more = group("more"),
    zoom = group("zoom");
  detail.setAttribute("role", "group");
  detail.setAttribute("aria-label", words.detail);
  for (const name of ["around", "all"])
    button(detail, name, words[name], "", () => state.ask("detail", name), data.detail === name);
  hops.setAttribute("role", "group");
  hops.setAttribute("aria-label", words.hops);
  for (const n of [1, 2])
    button(hops, `hops${n}`, words[`hops${n}`], "", () => state.ask("hops", String(n)), data.hops === n);
  if (!data.all)
    button(
      more,
      "clouds",
      words.clouds,
      "",
      () => {
        own.clouds = !own.clouds;
        state.redraw();
        bar(state);
      },
      own.clouds,
    );
  if (own.order.length) button(more, "undo", words.undo.replace("{n}", own.order.length), "", state.undo);
  if (data.pins) button(more, "unpin", words.unpin.replace("{n}", data.pins), "", () => state.ask("unpin", ""));
  button(zoom, "out", "−", words.out, () => state.zoom(1 / 1.4));
  button(zoom, "in", "+", words.in, () => state.zoom(1.4));
  button(zoom, "fit", "⤢", words.fit, () => state.zoom(0));
  if (held) host.querySelector(`[data-name="${held}"]`)?.focus();
  matches(state);
}

// Nodes that the search meets outside of the picture lead there.
function matches({ root, data, ask }) {
  const host = root.querySelector(".lr-lg-matches");
  host.replaceChildren();
  host.hidden = !data.search;
  if (!data.search) return;
  makeElement("span", "", host, data.words.matches);
  for (const match of data.matches) {
    const made = makeButton("", host, undefined, () => ask("centre", match.id));
    made.append(`L${match.layer} `);
    makeElement("bdi", "", made, match.name);
  }
}

function legend({ root, data }) {
  const host = root.querySelector(".lr-lg-legend");
  host.replaceChildren();
  for (const [look, text] of data.legend) {
    const sign = makeEntry(host, look, text);
    if (look === "folded") sign.textContent = "+9";
  }
}

// The same nodes as a list, for those who read or go through it with the keyboard.
function nodeList({ root, own, data, scene, ask }) {
  const host = root.querySelector(".lr-lg-list");
  host.hidden = !own.listed;
  if (!own.listed) return;
  const nodes = data.all
    ? data.nodes.slice(0, 200).map((node, place) => ({ ...node, node: place }))
    : [...scene.at.values()].sort((a, b) => a.hops - b.hops || b.layer - a.layer || a.rank - b.rank);
  const table = makeTable(data.words.columns);
  for (const node of nodes) {
    const row = table.tBodies[0].insertRow(),
      made = makeButton("", row.insertCell(), undefined, () => ask("pick", node.id));
    makeElement("bdi", "", made, node.name);
    if (node.id === own.picked) made.setAttribute("aria-current", "true");
    for (const text of [
      `L${node.layer}`,
      data.words.near[node.hops],
      node.parent === null || node.parent === undefined ? "" : data.nodes[node.parent].name,
    ])
      row.insertCell().textContent = text;
  }
  host.replaceChildren(table);
}
