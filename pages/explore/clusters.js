// The board of a layer's clusters: sizes above, each cluster as a dot by size and cohesion, and a table that is sorted here.
const BOARD_TOP = 74,
  BOARD_HEIGHT = 178,
  BOARD_LEFT = 40;

function boardFigure(host, data, pick) {
  const width = Math.max(300, host.clientWidth || 700),
    right = width - 8,
    bottom = BOARD_TOP + BOARD_HEIGHT;
  const svg = make("svg", {
    width,
    height: bottom + 40,
    viewBox: `0 0 ${width} ${bottom + 40}`,
    role: "group",
    "aria-label": data.words.figure,
  });
  const most = Math.max(...data.dots.map((dot) => dot[1]), data.cap || 0, data.wanted || 0) * 1.04,
    lowest = Math.min(0.9, Math.floor(10 * Math.min(...data.dots.map((dot) => dot[2]))) / 10);
  const x = (size) => BOARD_LEFT + ((right - BOARD_LEFT) * size) / most,
    y = (cosine) => BOARD_TOP + BOARD_HEIGHT * (1 - (cosine - lowest) / (1 - lowest));
  for (let value = lowest; value <= 1.001; value += 0.1) {
    makeLine(svg, [BOARD_LEFT, y(value)], [right, y(value)], "line");
    if (Math.round((value - lowest) * 10) % 2 === 0)
      makeLabel(svg, BOARD_LEFT - 6, y(value) + 4, value.toFixed(1), { "text-anchor": "end", "font-size": 11.5 });
  }
  makeLabel(svg, 0, BOARD_TOP - 8, data.words.cohesion);
  makeLabel(svg, right, bottom + 34, data.words.size, { "text-anchor": "end" });
  sizeBars(svg, data, x, most);
  for (const [size, text] of [
    [data.wanted, data.words.wanted],
    [data.cap, data.words.cap],
  ]) {
    if (!size) continue;
    makeLine(svg, [x(size), 18], [x(size), bottom], "mute", { "stroke-dasharray": "4 3" });
    makeLabel(svg, x(size) - 4, 12, text, { "text-anchor": x(size) > width - 60 ? "end" : "middle" });
  }
  const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find((each) => most / each <= 9) || most;
  for (let size = step; size <= most; size += step)
    makeLabel(svg, x(size), bottom + 16, size, { "text-anchor": "middle", "font-size": 11.5 });
  for (const [id, size, cosine, name] of data.dots) {
    const picked = id === data.picked,
      dot = make(
        "circle",
        { cx: x(size), cy: y(cosine), r: picked ? 6.5 : 4.5, class: `dot${picked ? " picked" : ""}` },
        svg,
      );
    make("title", {}, dot, withColon(name, withCommas(String(size), cosine.toFixed(2))));
    dot.onclick = () => pick(id);
    if (picked) svg.append(dot);
  }
  host.querySelector("svg")?.remove();
  host.prepend(svg);
}

// How many clusters have that size, as bars above the dots.
function sizeBars(svg, data, x, most) {
  const width = Math.max(1, Math.ceil(most / 60)),
    bars = new Map();
  for (const [size, count] of data.sizes) {
    const from = width * Math.floor((size - 1) / width) + 1;
    bars.set(from, (bars.get(from) || 0) + count);
  }
  const tallest = Math.max(...bars.values());
  for (const [from, count] of bars) {
    const height = (36 * count) / tallest,
      left = x(from - 0.5) + 0.5;
    const bar = make(
      "rect",
      {
        x: left,
        y: BOARD_TOP - 22 - height,
        width: Math.max(1, x(from + width - 0.5) - left - 0.5),
        height,
        fill: "var(--lr-l2)",
      },
      svg,
    );
    make("title", {}, bar, withColon(width === 1 ? from : `${from}–${from + width - 1}`, count));
  }
}

// A row: id, name, size, cohesion, stability, conductance, oddest member, its id, its cosine. Empty values come last.
/** @type {[string, number][]} */
const BOARD_COLUMNS = [
  ["name", 1],
  ["size", 2],
  ["cohesion", 3],
  ["stability", 4],
  ["conductance", 5],
  ["oddest", 8],
];

function boardRows(rows, [column, rising]) {
  const place = BOARD_COLUMNS.find(([name]) => name === column)[1],
    sign = rising ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [left, right] = [a[place], b[place]];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    return sign * (typeof left === "string" ? left.localeCompare(right) : left - right) || a[1].localeCompare(b[1]);
  });
}

function boardTable(host, data, state, pick, sorted) {
  const table = makeElement("table"),
    head = table.createTHead().insertRow(),
    body = table.createTBody();
  table.createCaption().textContent = data.words.caption;
  for (const [name] of BOARD_COLUMNS) {
    const cell = makeElement("th", name, head),
      on = state.sort[0] === name,
      text = data.words.columns[name] + (on ? (state.sort[1] ? " ↑" : " ↓") : ""),
      button = makeButton("", cell, text, () => sorted(name));
    cell.scope = "col";
    cell.setAttribute("aria-sort", on ? (state.sort[1] ? "ascending" : "descending") : "none");
    button.dataset.column = name;
    button.title = data.words.about[name];
  }
  const number = (value, digits) =>
    value === null ? "–" : digits ? value.toFixed(digits) : value.toLocaleString("en-US");
  const link = (row, text, id, kind) => {
    const cell = row.insertCell(),
      button = makeButton("", cell, text, (event) => {
        event.stopPropagation();
        pick(id);
      });
    cell.className = kind;
    button.dataset.id = id;
    return cell;
  };
  for (const [id, name, size, cohesion, stability, conductance, oddest, oddId, cosine] of boardRows(
    data.rows,
    state.sort,
  )) {
    const row = body.insertRow();
    row.className = id === data.picked ? "picked" : "";
    if (id === data.picked) row.setAttribute("aria-current", "true");
    row.onclick = () => pick(id);
    link(row, name, id, "name");
    for (const [value, digits] of [
      [size, 0],
      [cohesion, 2],
      [stability, 2],
      [conductance, 2],
    ])
      row.insertCell().textContent = number(value, digits);
    makeElement("span", "", link(row, oddest, oddId, "oddest"), ` ${cosine.toFixed(2)}`);
  }
  host.replaceChildren(table);
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-board"),
    figure = host.querySelector(".figure"),
    table = host.querySelector(".rows");
  const state = (host.lrState = host.lrState?.of === data.of ? host.lrState : { of: data.of, sort: data.sort });
  const pick = (id) => setTriggerValue("picked", id);
  table.setAttribute("aria-label", data.words.table);
  const sorted = (column) => {
    const again = state.sort[0] === column;
    state.sort = [
      column,
      again
        ? !state.sort[1]
        : column === "name" || column === "cohesion" || column === "stability" || column === "oddest",
    ];
    if (!data.complete) {
      setTriggerValue("sorted", state.sort.join(" "));
      return;
    } // the others are on the server
    draw();
    table.querySelector(`[data-column="${column}"]`)?.focus();
  };
  const draw = () => {
    const top = table.scrollTop;
    boardTable(table, data, state, pick, sorted);
    table.scrollTop = top;
  };
  const focused = focusedIn(host);
  boardFigure(figure, data, pick);
  draw();
  if (focused.id) table.querySelector(`[data-id="${CSS.escape(focused.id)}"]`)?.focus();
  else if (focused.column) table.querySelector(`[data-column="${focused.column}"]`)?.focus();
  figureTools(figure, { ...data.tools, picture: () => figure.querySelector("svg") });
  return watchWidth(figure, () => boardFigure(figure, data, pick));
}
