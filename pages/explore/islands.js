// Each aggregated layer twice, with the same places: its nodes alone, and with the aggregated relations between them.
// Tau is moved in the panel beside, which says so by the event lr-tau; no run of the page is needed.
const RING = 3.5;

function islandsRadius(n, width) {
  return (n <= 12 ? 8 : n <= 40 ? 6 : n <= 130 ? 4.6 : 3.4) * Math.max(0.62, Math.min(1, width / 280));
}

// One SVG for all layers, so that a picture of it can be saved.
function islandsDrawing(host, data, state, chosen) {
  const width = Math.max(300, host.clientWidth || 600),
    gap = 20,
    each = (width - gap) / 2;
  const heights = data.layers.map((layer) =>
    Math.round(layer.nodes.length <= 12 ? Math.max(130, each * 0.5) : Math.max(150, each * 0.76)),
  );
  const total = heights.reduce((sum, height) => sum + height + 92, 0);
  const svg = make("svg", {
    width,
    height: total,
    viewBox: `0 0 ${width} ${total}`,
    role: "group",
    "aria-label": data.label,
  });
  let top = 0;
  data.layers.forEach((layer, place) => {
    layerTitle(svg, layer, top, width);
    [0, 1].forEach((side) => {
      const box = { x: side * (each + gap) + 0.5, y: top + 60, width: each - 1, height: heights[place] };
      const [number, caption] = side ? layer.with : layer.without;
      const group = make("g", {}, svg),
        big = makeLabel(group, box.x, top + 50, number, {
          "font-size": 21,
          "font-weight": 650,
          fill: "var(--lr-text)",
        });
      const after = box.x + 9 + textWidth(number, '650 21px "Source Sans",sans-serif');
      makeLabel(group, after, top + 50, cut(caption, measure(box.x + box.width - after, `12.5px ${FONT}`)), {
        "font-size": 12.5,
      });
      make("title", {}, big, `${number} ${caption}`);
      make("rect", { ...box, rx: 6, fill: "var(--lr-band)", stroke: "var(--lr-line)" }, group);
      islandsOfLayer(svg, layer, box, side, state, chosen);
    });
    top += heights[place] + 92;
  });
  return svg;
}

function textWidth(text, font) {
  pen.font = font;
  return pen.measureText(text).width;
}

function layerTitle(svg, layer, top, width) {
  const step = Math.min(4, layer.number),
    tag = `L${layer.number}`;
  make("rect", { x: 0, y: top + 3, width: 21, height: 16, rx: 3, fill: `var(--lr-l${step})` }, svg);
  makeLabel(svg, 10.5, top + 15, tag, {
    "font-size": 10.5,
    "font-weight": 650,
    "text-anchor": "middle",
    fill: `var(--lr-l${step}k)`,
  });
  makeLabel(svg, 29, top + 16, cut(layer.title, measure(width - 32, `600 14px ${FONT}`)), {
    "font-size": 14,
    "font-weight": 600,
    fill: "var(--lr-text)",
  });
}

function islandsOfLayer(svg, layer, box, side, state, chosen) {
  const r = islandsRadius(layer.nodes.length, box.width),
    pad = r + RING + 6,
    names = layer.labels.length > 0 && layer.nodes.length <= 12;
  const across = names ? 40 : pad,
    up = names ? 26 : pad;
  const at = layer.nodes.map(([x, y]) => [
    box.x + across + x * (box.width - 2 * across),
    box.y + up + y * (box.height - 2 * up),
  ]);
  const group = make(
    "g",
    { role: side ? "group" : "img", "aria-label": side ? layer.said.with : layer.said.without },
    svg,
  );
  if (side) {
    const lines = make("g", {}, group);
    state.lines.set(
      layer.number,
      layer.links.map(([a, b, strength]) => {
        const line = make("line", { x1: at[a][0], y1: at[a][1], x2: at[b][0], y2: at[b][1] }, lines);
        make("title", {}, line, `${layer.nodes[a][3]} – ${layer.nodes[b][3]}: λ ${strength}`);
        return [line, strength];
      }),
    );
    colourLines(layer, state);
  }
  const boxes = at.map(([x, y]) => [x - r - 2, y - r - 2, x + r + 2, y + r + 2]),
    island = (node) => side === 0 || layer.sizes[layer.nodes[node][2]] === 1;
  layer.nodes.forEach(([, , part, name], node) => {
    const [x, y] = at[node],
      apart = side === 1 && part > 0,
      mark = make("g", {}, group);
    if (apart)
      make(
        "circle",
        { cx: x, cy: y, r: r + RING, fill: "none", stroke: "var(--lr-seed)", "stroke-dasharray": "2 2" },
        mark,
      );
    make(
      "circle",
      island(node)
        ? { cx: x, cy: y, r, fill: "var(--lr-bg)", stroke: "var(--lr-seed)", "stroke-width": r > 5 ? 2 : 1.5 }
        : { cx: x, cy: y, r, fill: "var(--lr-path)", stroke: "var(--lr-bg)", "stroke-width": 1 },
      mark,
    );
    make("title", {}, mark, name);
    if (apart && layer.why[node] !== undefined) pickableIsland(mark, layer, node, state, chosen);
  });
  const labelled = names ? layer.nodes.map((_, node) => node) : side ? layer.labels : [];
  for (const node of labelled)
    islandName(group, layer.nodes[node][3], at[node], r + (side && layer.nodes[node][2] > 0 ? RING : 0), box, boxes);
}

// The name where there is room: beside, above or below, cut shorter if need be; else none, the tooltip has it.
function islandName(group, name, [x, y], r, box, boxes) {
  const font = `600 12px ${FONT}`;
  for (const room of [Math.min(150, box.width * 0.46), 90, 60]) {
    const text = cut(name, measure(room, font)),
      wide = textWidth(text, font);
    const places = [
      [x, y - r - 5, "middle"],
      [x, y + r + 14, "middle"],
      [x + r + 5, y + 4, "start"],
      [x - r - 5, y + 4, "end"],
    ];
    for (const [left, base, anchor] of places) {
      const from = anchor === "middle" ? left - wide / 2 : anchor === "start" ? left : left - wide,
        area = [from, base - 11, from + wide, base + 3];
      const inside =
        area[0] > box.x + 2 &&
        area[2] < box.x + box.width - 2 &&
        area[1] > box.y + 2 &&
        area[3] < box.y + box.height - 2;
      if (
        !inside ||
        boxes.some((other) => area[0] < other[2] && other[0] < area[2] && area[1] < other[3] && other[1] < area[3])
      )
        continue;
      boxes.push(area);
      make(
        "text",
        {
          x: left,
          y: base,
          "text-anchor": anchor,
          "font-size": 12,
          "font-weight": 600,
          fill: "var(--lr-text)",
          stroke: "var(--lr-band)",
          "stroke-width": 3.5,
          "paint-order": "stroke",
          style: "unicode-bidi:plaintext",
        },
        group,
        text,
      );
      return;
    }
  }
}

function pickableIsland(mark, layer, node, state, chosen) {
  const [, , , name, id] = layer.nodes[node],
    pressed = state.picked === id;
  mark.setAttribute("class", `island${pressed ? " picked" : ""}`);
  makePickable(mark, { "aria-pressed": String(pressed), "aria-label": name, "data-id": id }, () => chosen(layer, node));
}

function colourLines(layer, state) {
  const tau = state.tau[layer.number] ?? layer.tau;
  for (const [line, strength] of state.lines.get(layer.number) || []) {
    const strong = tau !== null && strength > tau;
    line.setAttribute("class", strong ? "summarised" : "joined");
    line.setAttribute(
      "style",
      strong
        ? `stroke:var(--lr-inter);stroke-width:${Math.min(layer.nodes.length > 40 ? 2.6 : 4.5, 0.8 + Math.log2(1 + strength) * (layer.nodes.length > 40 ? 0.35 : 0.55)).toFixed(2)}`
        : "stroke:var(--lr-base);stroke-width:1;stroke-dasharray:1 3;stroke-linecap:round",
    );
  }
}

function islandsTable(data) {
  const around = makeElement("div", "lr-scroll"),
    table = makeElement("table", "lr-facts", around),
    [head, ...rows] = data.table;
  for (const cells of [head, ...rows]) {
    const row = table.insertRow();
    for (const cell of cells) makeElement(cells === head ? "th" : "td", "", row, cell);
  }
  return around;
}

function islandsLegend(host, words) {
  const marks = [
    ["island", "M8 6a4 4 0 1 1-.01 0"],
    ["connected", "M8 6a4 4 0 1 1-.01 0"],
    ["summarised", "M1 10H25"],
    ["joined", "M1 10H25"],
  ];
  for (const [kind, d] of marks) {
    const item = makeElement("span", "", host),
      width = kind === "summarised" || kind === "joined" ? 27 : 17;
    make("path", { d, class: kind }, make("svg", { width, height: 18, "aria-hidden": true }, item));
    item.append(words[kind]);
  }
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-islands"),
    figure = host.querySelector(".figure"),
    reason = host.querySelector(".reason");
  const kept =
    host.lrState?.index === data.index ? host.lrState : { index: data.index, tau: {}, picked: "", lines: new Map() };
  const state = (host.lrState = kept);
  const chosen = (layer, node) => {
    state.picked = layer.nodes[node][4];
    for (const mark of figure.querySelectorAll(".island")) {
      const on = mark.dataset.id === state.picked;
      mark.classList.toggle("picked", on);
      mark.setAttribute("aria-pressed", String(on));
    }
    reason.replaceChildren();
    makeText("b", "", reason, layer.nodes[node][3]);
    makeElement("span", "", reason, ` ${layer.why[node]} `);
    makeButton("", reason, data.words.open, () => setTriggerValue("opened", state.picked));
    reason.hidden = false;
  };
  const redraw = () => {
    state.lines.clear();
    const focused = focusedIn(figure).id;
    figure.querySelector("svg")?.remove();
    figure.prepend(islandsDrawing(figure, data, state, chosen));
    if (focused) figure.querySelector(`[data-id="${CSS.escape(focused)}"]`)?.focus();
  };
  host.querySelector(".base").textContent = data.base;
  host.querySelector(".legend").replaceChildren();
  islandsLegend(host.querySelector(".legend"), data.words);
  redraw();
  const table = host.querySelector(".table");
  figureTools(host, {
    ...data.tools,
    picture: () => figure.querySelector("svg"),
    asTable: () => {
      table.replaceChildren(...(table.childElementCount ? [] : [islandsTable(data)]));
    },
  });
  const moved = (event) => {
    if (event.detail.index !== data.index) return;
    state.tau[event.detail.layer] = event.detail.tau;
    const layer = data.layers.find((each) => each.number === event.detail.layer);
    if (layer) colourLines(layer, state);
  };
  document.addEventListener("lr-tau", moved);
  const unwatch = watchWidth(figure, redraw);
  return () => {
    unwatch();
    document.removeEventListener("lr-tau", moved);
  };
}
