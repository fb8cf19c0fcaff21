// The slides about the index: documents, graph, islands, bridges, hierarchy, cost. Lengths are in sixteenths of the
// slide's type size, so that everything grows with the window.
const LABEL = `500 16px ${FONT}`,
  SMALL_LABEL = `500 14.5px ${FONT}`;

// A column of text with the slide's claim, and room for a figure beside it.
function claimBeside(body, view) {
  const row = element("div", "lrp-beside", body),
    left = element("div", "lrp-left", row),
    right = element("div", "lrp-right", row);
  if (view.strong) words("p", "lrp-strong", left, view.strong);
  if (view.rest) words("p", "lrp-rest", left, view.rest);
  return { left, right };
}

// An SVG that fills the room that its host has left, before what is in it, and its size in the slide's own lengths.
function figure(host, label) {
  const room = element("div", "lrp-figure");
  host.prepend(room);
  const unit = parseFloat(getComputedStyle(host).fontSize) / 16 || 1;
  const width = Math.max(200, room.clientWidth / unit),
    height = Math.max(200, room.clientHeight / unit);
  const svg = make(
    "svg",
    { viewBox: `0 0 ${width} ${height}`, width: "100%", height: "100%", role: "img", "aria-label": label },
    room,
  );
  return { svg, width, height, small: width < 560 };
}

function legend(host, marks) {
  const list = element("ul", "lrp-legend", host);
  for (const [look, text] of marks) {
    const line = element("li", "", list);
    element("i", `lrp-key ${look}`, line);
    element("span", "", line, text);
  }
}

function titled(node, text) {
  if (text) make("title", {}, node, text);
  return node;
}

function drawDocuments(body, view, { deck }) {
  const { right } = claimBeside(body, view),
    drawn = view.picture.documents;
  legend(right, [["chunk", deck.words.legend_chunk]]);
  const { svg, width, height, small } = figure(right, view.title);
  const step = Math.min(44, height / drawn.length),
    // Chunks overlap: together they may be longer than their document.
    most = Math.max(...drawn.map((each) => each.chunks.reduce((sum, tokens) => sum + tokens, 0)), 1);
  const size = Math.min(17, Math.max(14.5, step * 0.6)),
    font = `500 ${size}px ${FONT}`;
  pen.font = font;
  // Titles have the room that they take, up to half of the figure.
  const widest = Math.max(0, ...drawn.map((each) => pen.measureText(each.title).width)),
    left = small ? 130 : Math.min(Math.max(300, widest + 24), Math.max(300, width * 0.5));
  drawn.forEach((each, row) => {
    const y = row * step,
      group = make("g", {}, svg);
    titled(group, withColon(each.title, each.tokens.toLocaleString(deck.language)));
    writeName(
      "lrp-label",
      { x: 0, y: y + step / 2 + size * 0.35, style: `font-size:${size}px` },
      group,
      cut(each.title, measure(left - 16, font)),
      left - 16,
    );
    let x = left;
    for (const tokens of each.chunks) {
      const w = (width - left) * (tokens / most),
        gap = Math.min(3, w * 0.2);
      make(
        "rect",
        { class: "lrp-chunk", x, y: y + step * 0.16, width: Math.max(1, w - gap), height: step * 0.68, rx: 2.5 },
        group,
      );
      x += w;
    }
  });
}

function drawGraphSlide(body, view, { deck }) {
  const { right } = claimBeside(body, view),
    { dots, links } = view.picture;
  legend(right, [
    ["entity", deck.words.legend_entity],
    ["relation", deck.words.legend_relation],
  ]);
  const { svg, width, height, small } = figure(right, view.title),
    at = placesIn(width, height);
  const lines = make("g", {}, svg),
    marks = make("g", {}, svg),
    labels = make("g", {}, svg),
    taken = [],
    seen = {};
  // The dots of a spot come by their relations; a small figure has the best of each alone.
  const isDrawn = dots.map((dot) => (seen[dot.spot] = (seen[dot.spot] ?? 0) + 1) <= (small ? 2 : Infinity));
  for (const [a, b] of links.filter((ends) => ends.every((end) => isDrawn[end]))) {
    const [x1, y1] = at(dots[a]),
      [x2, y2] = at(dots[b]),
      dx = (y1 - y2) * 0.09,
      dy = (x2 - x1) * 0.09;
    const line = make(
      "path",
      { class: "lrp-link", d: `M${x1} ${y1}Q${(x1 + x2) / 2 + dx} ${(y1 + y2) / 2 + dy} ${x2} ${y2}` },
      lines,
    );
    line.dataset.a = a;
    line.dataset.b = b;
  }
  const sized = dots.map((dot) => Math.min(15, 3.5 + 1.5 * Math.sqrt(dot.degree)) * (small ? 0.8 : 1));
  dots.forEach((dot, place) => {
    if (!isDrawn[place]) return;
    const [x, y] = at(dot),
      r = sized[place],
      mark = make("circle", { class: "lrp-entity", cx: x, cy: y, r }, marks);
    if (r > 7.5) taken.push([x - r, y - r, x + r, y + r]);
    titled(mark, dot.type ? `${dot.name} (${dot.type})` : dot.name);
    const light = (on) => {
      for (const line of lines.children)
        line.classList.toggle("lit", on && (line.dataset.a === String(place) || line.dataset.b === String(place)));
    };
    mark.onpointerenter = () => light(true);
    mark.onpointerleave = () => light(false);
  });
  const order = dots
    .map((dot, place) => place)
    .filter((place) => isDrawn[place])
    .sort((a, b) => dots[b].degree - dots[a].degree);
  for (const place of order.slice(0, small ? 24 : 60)) {
    const [x, y] = at(dots[place]),
      font = small ? SMALL_LABEL : LABEL,
      name = cut(dots[place].name, measure(190, font));
    drawLabel(
      { x, y, radius: sized[place], name, font, size: small ? 14.5 : 16 },
      taken,
      [0, 0, width, height],
      labels,
    );
  }
}

// From fractions of the figure to places that leave room for discs and names at its edges.
function placesIn(width, height) {
  return ({ x, y }) => [16 + x * (width - 32), 12 + y * (height - 40)];
}

function drawIslands(body, view, { deck, slides, slide }) {
  const { right } = claimBeside(body, view),
    { spots, bridges, alone } = view.picture,
    joined = slides[slide].kind === "bridges";
  legend(
    right,
    joined
      ? [
          ["joined", deck.words.legend_joined],
          ["summarised", deck.words.legend_summarised],
          ["listed", deck.words.legend_listed],
        ]
      : [["island", deck.words.legend_island]],
  );
  const { svg, width, height, small } = figure(right, view.title),
    at = placesIn(width, height - 14);
  const lines = make("g", { class: "lrp-bridges" }, svg),
    marks = make("g", {}, svg),
    labels = make("g", {}, svg),
    pills = make("g", {}, svg);
  const most = Math.max(...spots.map((spot) => spot.size), 1),
    radius = (spot) =>
      Math.max(7, (small ? 15 : Math.min(26, 135 / Math.sqrt(spots.length))) * Math.sqrt(spot.size / most));
  const strongest = Math.max(...bridges.map((bridge) => bridge.strength), 1),
    taken = [];
  for (const spot of spots) {
    const [x, y] = at(spot),
      r = radius(spot);
    taken.push([x - r, y - r, x + r, y + r]);
  }
  bridges
    .slice()
    .reverse()
    .forEach((bridge) => {
      const [x1, y1] = at(spots[bridge.source]),
        [x2, y2] = at(spots[bridge.target]);
      const line = make(
        "path",
        {
          class: `lrp-bridge ${bridge.is_summarised ? "summarised" : "listed"}`,
          d: `M${x1} ${y1}Q${(x1 + x2) / 2} ${(y1 + y2) / 2 - 0.12 * Math.abs(x2 - x1)} ${x2} ${y2}`,
        },
        lines,
      );
      if (bridge.is_summarised) line.style.strokeWidth = `${1.5 + 5 * (bridge.strength / strongest)}px`;
      titled(line, `${spots[bridge.source].name} – ${spots[bridge.target].name} (${bridge.strength}). ${bridge.about}`);
    });
  spots.forEach((spot, place) => {
    const [x, y] = at(spot),
      r = radius(spot),
      mark = make(
        "circle",
        { class: `lrp-spot ${alone.includes(place) ? "alone" : "joined"}`, cx: x, cy: y, r },
        marks,
      );
    titled(mark, `${spot.name}. ${spot.about}`);
    if (spot.named && !small) drawSpotName(spot, { x, y, r, width, near: nearest(spots, place, at) }, taken, labels);
  });
  for (const bridge of bridges.filter((each) => each.is_summarised).slice(0, small ? 3 : 7))
    drawStrength(bridge, spots, at, taken, pills);
}

// How far the next spot of about the same height is.
function nearest(spots, place, at) {
  const [x, y] = at(spots[place]);
  return spots.reduce((least, spot, other) => {
    const [ox, oy] = at(spot);
    return other !== place && Math.abs(oy - y) < 60 ? Math.min(least, Math.abs(ox - x)) : least;
  }, 200);
}

// The name below its spot, all of its lines or none.
function drawSpotName(spot, { x, y, r, width, near }, taken, parent) {
  const room = Math.max(92, Math.min(168, near - 8)),
    lines = wrap(spot.name, room, room < 120 ? 3 : 2, SMALL_LABEL);
  pen.font = SMALL_LABEL;
  const half = Math.max(...lines.map((line) => pen.measureText(line).width)) / 2,
    cx = Math.max(half + 1, Math.min(width - half - 1, x)),
    top = y + r + 3;
  const box = [cx - half, top, cx + half, top + lines.length * 16];
  if (taken.some(([l, t, right, b]) => box[0] < right && l < box[2] && box[1] < b && t < box[3])) return;
  taken.push(box);
  lines.forEach((line, row) =>
    writeName("halo lrp-name", { x: cx, y: top + 12 + row * 16, "text-anchor": "middle" }, parent, line),
  );
}

// Lambda in the middle of its bridge, where nothing else is.
function drawStrength(bridge, spots, at, taken, parent) {
  const [x1, y1] = at(spots[bridge.source]),
    [x2, y2] = at(spots[bridge.target]),
    label = `${bridge.strength}`;
  pen.font = `650 15px ${FONT}`;
  const half = pen.measureText(label).width / 2 + 9;
  for (const t of [0.5, 0.4, 0.6, 0.3, 0.7]) {
    const cy = (y1 + y2) / 2 - 0.12 * Math.abs(x2 - x1),
      mid = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
    const x = mid(x1, (x1 + x2) / 2, x2),
      y = mid(y1, cy, y2),
      box = [x - half, y - 13, x + half, y + 13];
    if (taken.some(([l, top, r, b]) => box[0] < r && l < box[2] && box[1] < b && top < box[3])) continue;
    taken.push(box);
    paint(
      make("rect", { class: "pill", x: x - half, y: y - 12, width: 2 * half, height: 24, rx: 12 }, parent),
      "inter",
    );
    make("text", { class: "lambda lrp-lambda", x, y: y + 5.5 }, parent, label);
    return;
  }
}

// At most so many lines; a single line is cut within a word rather than left half empty.
function inLines(text, width, most, font) {
  return most <= 1 ? [cut(text, measure(width, font))] : wrap(text, width, most, font);
}

function drawHierarchy(body, view, { deck }) {
  const { right } = claimBeside(body, view),
    { columns } = view.picture,
    { svg, width, height, small } = figure(right, view.title);
  const top = 30,
    tall = height - top,
    lowest = columns[columns.length - 1],
    narrow = columns.length > 3 ? 0.16 : 0.2;
  const upper = columns.slice(0, -1).map(() => width * narrow),
    left = width - upper.reduce((sum, w) => sum + w, 0),
    share = small ? 1 : 0.46;
  const widths = [...upper, left * share];
  let x = 0;
  columns.forEach((column, number) => {
    const w = widths[number],
      shade = Math.min(4, column.layer);
    make(
      "text",
      { class: "lrp-head", x: x + 2, y: 18 },
      svg,
      withColon(`${small ? "L" : `${deck.words.layer} `}${column.layer}`, column.nodes.toLocaleString(deck.language)),
    );
    for (const block of column.blocks) {
      const y = top + block.start * tall,
        h = Math.max(2, (block.end - block.start) * tall - 3),
        group = make("g", { class: block.folded ? "folded" : "" }, svg);
      const rect = make("rect", { class: "lrp-block", x, y, width: w - 4, height: h, rx: 4 }, group);
      if (!block.folded) rect.style.fill = `var(--lr-l${shade})`;
      titled(group, block.folded ? `+${block.folded}` : `${block.name}. ${block.about}`);
      const name = block.folded ? withColon(`+${block.folded}`, block.names.join(signs().semicolon)) : block.name,
        lines = inLines(name, w - 20, Math.floor((h - 4) / 18), SMALL_LABEL);
      if (h > 15)
        lines.forEach((line, row) => {
          const text = writeName(
            "lrp-name",
            { x: x + 9, y: y + Math.min(18, h / 2 + 5) + row * 18 },
            group,
            line,
            x + w - 13,
          );
          if (!block.folded) text.style.fill = `var(--lr-l${shade}k)`;
        });
      if (column === lowest && !small && h > 15) {
        const room = width - x - w - 8,
          rows = Math.max(1, Math.floor((h - 2) / 18));
        const text = block.folded ? `+${block.size.toLocaleString(deck.language)}` : withCommas(...block.names);
        make("path", { class: "lrp-hair", d: `M${x + w} ${y + h + 1.5}H${width}` }, svg);
        inLines(text, room, rows, SMALL_LABEL).forEach((line, row) =>
          writeName("lrp-name", { x: x + w + 4, y: y + Math.min(16, h / 2 + 5) + row * 18 }, svg, line, width),
        );
      }
    }
    x += w;
  });
  if (!small)
    make(
      "text",
      { class: "lrp-head", x: x + 4, y: 18 },
      svg,
      withColon(`${deck.words.layer} 0`, view.picture.base.toLocaleString(deck.language)),
    );
}

function drawCost(body, view, { deck }) {
  const { right } = claimBeside(body, view),
    { figures, rows, label, measured } = view.picture,
    most = Math.max(...rows.map((row) => row.tokens), 1);
  drawFigures(right, figures);
  element("p", "lrp-caption", right, label);
  for (const row of rows) {
    const line = element("div", `lrp-cost tall side-${row.letter}`, right);
    element("span", "lrp-letter", line, row.letter);
    element("span", "lrp-who", line, row.name);
    drawBar(line, row.tokens / most);
    element("b", "", line, row.tokens.toLocaleString(deck.language));
  }
  if (measured.length) drawFigures(right, measured).classList.add("measured");
}

function drawFigures(parent, figures) {
  const list = element("div", "lrp-figures", parent);
  for (const each of figures) {
    const cell = element("div", "", list);
    element("b", "", cell, each.value);
    element("span", "", cell, each.label);
  }
  return list;
}

function drawBar(parent, share) {
  const bar = element("div", "lrp-bar", parent);
  element("i", "", bar).style.width = `${100 * share}%`;
}
