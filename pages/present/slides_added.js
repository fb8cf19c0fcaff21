// The slides that a person adds: own words, the board, a picture of Explore. A comparison is drawn by drawCompare.
const BOARD_EDGE = { left: 54, right: 26, top: 16, bottom: 46 };

function drawText(body, view) {
  const { text, quotation } = view.picture;
  const column = element("div", "lrp-own-text", body);
  words("p", "lrp-strong", column, text ?? "");
  words("blockquote", "lrp-question", column, quotation ?? "").hidden = !quotation;
}

function drawPicture(body, view) {
  const { light, dark, width, height, about } = view.picture,
    room = element("div", "lrp-picture", body);
  const image = element("img", "", room);
  Object.assign(image, { src: isDark(body) ? dark : light, alt: about, width, height });
}

// Whether the page behind an element is dark.
function isDark(host) {
  const colour = getComputedStyle(host).getPropertyValue("--lr-bg").trim(),
    parts = colour.match(/[0-9a-f]{2}/gi) ?? [];
  return parts.slice(0, 3).reduce((sum, part) => sum + Number.parseInt(part, 16), 0) < 3 * 128;
}

// Settings on a chart of what they find against what they read; a point is chosen by a click, or by the row's button.
function drawBoardSlide(body, view, deckView) {
  const { points, now, pinned, head, rows, measure } = view.picture,
    row = element("div", "lrp-beside", body),
    left = element("div", "lrp-left", row),
    right = element("div", "lrp-right", row);
  const claim = words("p", "lrp-strong", left, ""),
    table = element("table", "lrp-board", left),
    line = element("tr", "", element("thead", "", table)),
    inside = element("tbody", "", table);
  claim.setAttribute("aria-live", "polite");
  for (const name of head) element("th", "", line, name).scope = "col";
  const { svg, width, height, small } = figure(right, view.title);
  const marks = points.map(() => make("g", { class: "lrp-point" }));
  const lines = rows.map((cells, place) => {
    const each = element("tr", "", inside),
      button = words("button", "", element("td", "", each), cells[0]);
    button.type = "button";
    button.dataset.key = `point-${place}`;
    button.onclick = () => choose(place);
    for (const cell of cells.slice(1)) element("td", "", each, cell);
    return each;
  });
  drawBoardChart(svg, { points, pinned, measure, marks, width, height, small, tokens: head[2] });
  marks.forEach((mark, place) => (mark.onclick = () => choose(place)));
  function choose(place) {
    [marks, lines].forEach((each) => each.forEach((mark, other) => mark.classList.toggle("here", other === place)));
    claim.textContent = points[place].said;
    deckView.point = place;
  }
  choose(Math.min(deckView.point ?? now, points.length - 1));
}

function drawBoardChart(svg, { points, pinned, measure, marks, width, height, small, tokens }) {
  const { left, right, top, bottom } = BOARD_EDGE,
    highest = Math.max(...points.map((point) => Math.max(point.value, point.high ?? 0))),
    full = highest <= 1 ? 1 : highest * 1.08, // a share is drawn from 0 to 1
    most = Math.max(1, ...points.map((point) => point.tokens)) * 1.12;
  const X = (value) => left + (value / most) * (width - left - right),
    Y = (value) => height - bottom - Math.max(0, Math.min(1, value / full)) * (height - top - bottom);
  for (const value of [0, 0.25, 0.5, 0.75, 1].map((share) => share * full)) {
    make("path", { class: "lrp-hair", d: `M${left} ${Y(value)}H${width - right}` }, svg);
    make(
      "text",
      { class: "lrp-head", x: left - 8, y: Y(value) + 5, "text-anchor": "end" },
      svg,
      full === 1 ? scoreText(value, 2) : `${Number(value.toPrecision(3))}`,
    );
  }
  make("text", { class: "lrp-head", x: left, y: top - 4 }, svg, measure);
  make("text", { class: "lrp-head", x: width - right, y: height - 6, "text-anchor": "end" }, svg, tokens);
  for (const share of [0, 0.5, 1])
    make(
      "text",
      { class: "lrp-head", x: X((most / 1.12) * share), y: height - bottom + 20, "text-anchor": "middle" },
      svg,
      Math.round((most / 1.12) * share).toLocaleString(),
    );
  const way = points.map((point, place) => `${place ? "L" : "M"}${X(point.tokens)} ${Y(point.value)}`).join("");
  make("path", { class: "lrp-trail", d: way }, svg);
  points.forEach((point, place) => {
    const mark = marks[place],
      x = X(point.tokens),
      y = Y(point.value);
    svg.append(mark);
    if (point.low !== null && point.high !== null)
      make("path", { class: "lrp-bar-of", d: `M${x} ${Y(point.low)}V${Y(point.high)}` }, mark);
    make("circle", { class: place === pinned ? "ring" : "disc", cx: x, cy: y, r: small ? 7 : 9 }, mark);
    if (place === pinned) make("circle", { class: "dot", cx: x, cy: y, r: 2.5 }, mark);
    titled(mark, `${point.name}. ${point.said}`);
  });
}
