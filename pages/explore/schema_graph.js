// The schema: a box a type, between two types a line a kind of relation, as wide as it has relations. Pointing at a type
// shows all of its lines; a click on a type, a line or an entry of the table asks the page to filter by it.

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".lr-schema"),
    figure = root.querySelector(".lr-schema-figure");
  const pick = (types) =>
    setTriggerValue(
      "picked",
      types.map((at) => data.types[at].name),
    );
  const pickKind = (kind) => setTriggerValue("kind", kind),
    chosen = new Set(data.chosen),
    view = { data, chosen, pick, pickKind };
  const redraw = () => draw(figure, view);
  redraw();
  table(root.querySelector(".lr-schema-table"), view);
  legendOf(root.querySelector(".lr-schema-legend"), data.words.legend);
  figureTools(root.querySelector(".lr-schema-left"), {
    ...data.tools,
    asTable: () => root.querySelector(".lr-schema-table button")?.focus(),
  });
  return watchWidth(figure, redraw, 4);
}

function draw(figure, view) {
  const { data, chosen, pick } = view;
  const width = figure.clientWidth || 600,
    layout = data.layouts.filter((each) => each.width <= Math.max(width + 60, data.layouts[0].width)).pop();
  const stretch = width / layout.width,
    held = focusedIn(figure).node;
  const svg = make("svg", {
    width,
    height: layout.height,
    viewBox: `0 0 ${width} ${layout.height}`,
    role: "group",
    "aria-label": data.label,
  });
  const at = new Map(
    layout.places.map((place) => [
      place.of,
      {
        x: place.x * stretch,
        y: place.y,
        w: Math.min(layout.box_width * Math.max(1, stretch), layout.box_width * 1.25),
        h: layout.box_height,
      },
    ]),
  );
  const links = make("g", {}, svg),
    boxes = make("g", {}, svg),
    pills = make("g", { class: "pills" }, svg);
  const drawn = data.pairs.filter((pair) => pair.a !== pair.b && at.has(pair.a) && at.has(pair.b));
  const most = Math.max(1, ...drawn.map((pair) => pair.count)),
    taken = [...at.values()].map((box) => [
      box.x - box.w / 2 - 3,
      box.y - box.h / 2 - 3,
      box.x + box.w / 2 + 3,
      box.y + box.h / 2 + 3,
    ]);
  const lone = new Set(at.keys()); // types without a line so far: each has its strongest one
  const isShown = (pair, place) => {
    const first = lone.has(pair.a) || lone.has(pair.b);
    lone.delete(pair.a);
    lone.delete(pair.b);
    return place < (width < 520 ? SMALL_PAIRS : PAIRS) || first;
  };
  const weak = new Set(drawn.filter((pair, place) => !isShown(pair, place)));
  const lines = [
    ...pairLines(
      drawn.filter((pair) => !weak.has(pair)),
      width < 520,
    ),
    ...[...weak].map((pair) => ({ pair, kinds: [], weak: true })),
  ];
  for (const line of lines) drawPair(line, { ...view, at, most, taken, layout, width }, links, pills);
  for (const [of, box] of at) drawType(of, box, { data, layout, chosen, pick }, boxes);
  figure.replaceChildren(svg);
  const nodes = [...svg.querySelectorAll(".node")];
  (nodes.find((node) => node.dataset.node === held) ?? nodes[0])?.setAttribute("tabindex", "0");
  if (held) nodes.find((node) => node.dataset.node === held)?.focus();
  figure.onkeydown = (event) => walkNodes(figure, event);
  const point = (of) => {
    for (const line of svg.querySelectorAll("[data-a]"))
      line.classList.toggle("hot", of !== undefined && (line.dataset.a === of || line.dataset.b === of));
    svg.classList.toggle("pointing", of !== undefined);
  };
  svg.onpointerover = (event) => point(event.target.closest(".node")?.dataset.node);
  svg.onpointerleave = () => point(undefined);
  svg.addEventListener("focusin", (event) => point(event.target.closest(".node")?.dataset.node));
  svg.addEventListener("focusout", () => point(undefined));
}

function drawType(of, box, { data, layout, chosen, pick }, parent) {
  const fold = of < 0,
    type = data.types[of],
    words = data.words;
  const name = fold ? words.types.replace("{n}", layout.folded) : type.shown,
    count = fold ? data.types.slice(-layout.folded).reduce((sum, each) => sum + each.count, 0) : type.count;
  const own = data.pairs.find((pair) => pair.a === of && pair.b === of),
    on = !fold && chosen.has(type.name);
  const group = make("g", { class: `type${fold ? " fold" : " node"}${on ? " chosen" : ""}`, "data-node": of }, parent);
  paint(group, "path");
  make(
    "title",
    {},
    group,
    fold
      ? words.folded.replace("{n}", layout.folded)
      : withColon(
          type.shown,
          withCommas(
            words.entities.replace("{n}", type.count.toLocaleString("en")),
            own && words.among.replace("{n}", own.count.toLocaleString("en")),
          ),
        ),
  );
  const rect = (out, look) =>
    make(
      "rect",
      {
        class: look,
        x: box.x - box.w / 2 - out,
        y: box.y - box.h / 2 - out,
        width: box.w + 2 * out,
        height: box.h + 2 * out,
        rx: 6 + out,
      },
      group,
    );
  rect(3.5, "ring");
  rect(0, "under");
  rect(0, "shape");
  writeName(
    "type-name",
    { x: box.x, y: box.y - 3, "text-anchor": "middle" },
    group,
    cut(name, measure(box.w - 12, `600 13px ${FONT}`)),
  );
  make(
    "text",
    { class: "type-count", x: box.x, y: box.y + 14, "text-anchor": "middle" },
    group,
    count.toLocaleString("en") + (own ? `  ↻ ${own.count.toLocaleString("en")}` : ""),
  );
  if (fold) return;
  makePickable(group, { tabindex: "-1", "aria-pressed": String(on) }, () => pick([of]));
}

function table(host, { data, chosen, pick, pickKind }) {
  const made = makeTable(data.words.columns),
    body = made.tBodies[0];
  const button = (cell, text, pressed, run) =>
    makeButton("", cell, text, run).setAttribute("aria-pressed", String(pressed));
  for (const pair of data.pairs.slice(0, data.rows)) {
    const row = body.insertRow(),
      ends = [...new Set([pair.a, pair.b])],
      names = ends.map((of) => data.types[of].name);
    button(
      row.insertCell(),
      pairName(pair, data),
      names.length === chosen.size && names.every((name) => chosen.has(name)),
      () => pick(ends),
    );
    row.insertCell().textContent = pair.count.toLocaleString("en");
    const cell = row.insertCell();
    for (const [kind, title, count] of pair.kinds) {
      button(cell, `${title} ${count.toLocaleString("en")}`, data.chosen_kinds.includes(kind), () => pickKind(kind));
      cell.append(" ");
    }
    if (pair.more) cell.append(data.words.more.replace("{n}", pair.more.toLocaleString("en")));
  }
  host.replaceChildren(made);
  if (data.words.rest) {
    makeElement("p", "", host, data.words.rest.replace("{n}", data.pairs.length - data.rows));
  }
}

function legendOf(host, texts) {
  host.replaceChildren();
  ["type", "kind", "pair", "chosen", "fold"].forEach((look, place) => makeEntry(host, look, texts[place]));
}
