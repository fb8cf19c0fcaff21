// The chart of the board: a measure of the set against the tokens of a context, with the setting now, the pinned one,
// the trail between them and other methods. Put in front of board.js.
const BOARD_TRAIL_OPACITY = [0.28, 0.84];

// A round number that is not smaller.
function boardCeiling(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].map((part) => part * power).find((round) => round >= value - 1e-9);
}

// The points that have a place, whatever they are.
function boardPoints(data) {
  return [data.now, data.pinned, ...data.trail, ...data.others].filter((point) => point.y !== null);
}

// The axes: tokens from 0; a share from 0 to 1, or near the points; another measure from 0.
function boardAxes(data) {
  const points = boardPoints(data),
    high = (name) => Math.max(0, ...points.map((point) => point[`${name}High`] ?? point[name])),
    low = Math.min(...points.map((point) => point.yLow ?? point.y), data.share ? 1 : Infinity);
  const x = boardCeiling(high("x") * 1.08),
    budget = data.budget && data.budget <= x * 1.6 ? data.budget : 0;
  const top = data.share ? 1 : boardCeiling(high("y"));
  const near = data.near && points.length ? Math.max(0, Math.floor((low - 0.02 * top) * 10) / 10) : 0;
  return { x: budget ? Math.max(x, boardCeiling(budget * 1.02)) : x, low: near < top ? near : 0, high: top, budget };
}

// Values of an axis at which it has a line.
function boardTicks(low, high, most) {
  const step = [1, 2, 2.5, 5, 10]
    .map((part) => part * 10 ** Math.floor(Math.log10((high - low) / most)))
    .find((each) => (high - low) / each <= most + 1e-9);
  const ticks = [];
  for (let at = Math.ceil(low / step - 1e-9) * step; at <= high + step * 1e-6; at += step)
    ticks.push(Number(at.toPrecision(6)));
  return ticks;
}

function boardLabel(group, x, y, text, look) {
  return makeLabel(group, x, y, text, { ...HALO, "font-size": 12.5, "stroke-linejoin": "round", ...look });
}

// Boxes along a line through these points, for labels to keep clear of.
function boardLineBoxes(points) {
  const boxes = [];
  points.slice(1).forEach(([x2, y2], place) => {
    const [x1, y1] = points[place],
      steps = Math.max(1, Math.ceil(Math.hypot(x2 - x1, y2 - y1) / 6));
    for (let step = 0; step <= steps; step++) {
      const x = x1 + ((x2 - x1) * step) / steps,
        y = y1 + ((y2 - y1) * step) / steps;
      boxes.push([x - 3, y - 3, x + 3, y + 3]);
    }
  });
  return boxes;
}

// Where a label of that size has room: above, below, right, left of its point, over a line only where all other places
// are taken; null where it has none. lines: boxes along lines.
function boardPlace(boxes, lines, [x, y], size, frame, gap) {
  const [wide, high] = size;
  const tries = [
    [x, y - gap - high, "middle"],
    [x, y + gap, "middle"],
    [x + gap, y - high / 2, "start"],
    [x - gap, y - high / 2, "end"],
    [x + gap, y - gap - high, "start"],
    [x - gap, y + gap, "end"],
    [x + gap, y + gap, "start"],
    [x - gap, y - gap - high, "end"],
    [x, y - 3 * gap - high, "middle"],
    [x, y + 3 * gap, "middle"],
  ];
  const free = [];
  for (const [left, top, anchor] of tries) {
    const from = anchor === "middle" ? left - wide / 2 : anchor === "start" ? left : left - wide,
      box = [from, top, from + wide, top + high];
    const inside = box[0] >= frame[0] && box[1] >= frame[1] && box[2] <= frame[2] && box[3] <= frame[3],
      isTaken = (each) => box[0] < each[2] && each[0] < box[2] && box[1] < each[3] && each[1] < box[3];
    if (inside && !boxes.some(isTaken)) free.push({ box, overLine: lines.some(isTaken), x: left, top, anchor });
  }
  const place = free.find((each) => !each.overLine) ?? free[0];
  if (!place) return null;
  boxes.push(place.box);
  return { x: place.x, top: place.top, anchor: place.anchor };
}

// Draws the chart. axes: of boardAxes(); making: another index is being made; from: where the disc was, to slide from.
// Returns the places of the points of the trail, for the card, and that of the disc.
function drawBoard(svg, data, axes, { making, from, onTrail }) {
  const width = Number(svg.getAttribute("width")),
    height = Number(svg.getAttribute("height")),
    frame = { left: 34, right: width - 12, top: 30, bottom: height - 42 };
  svg.replaceChildren();
  const atX = (value) => frame.left + (value / axes.x) * (frame.right - frame.left),
    atY = (value) => frame.bottom - ((value - axes.low) / (axes.high - axes.low)) * (frame.bottom - frame.top);
  const clampX = (value) => Math.min(frame.right, atX(value)),
    clampY = (value) => Math.max(frame.top, Math.min(frame.bottom, atY(value)));
  boardGrid(svg, data, axes, frame, atX, atY);
  /** @returns {[number, number]} */
  const at = (point) => [clampX(point.x), clampY(point.y)],
    boxes = [],
    lines = boardLineBoxes(boardPath(data).map(at));
  for (const point of boardPoints(data)) {
    const [x, y] = at(point);
    boxes.push([x - 8, y - 8, x + 8, y + 8]);
  }
  const bars = (point, colour, wide) => {
    if (point.yLow === null || point.xLow === null) return;
    const [x, y] = at(point),
      group = make("g", { stroke: colour, "stroke-width": wide, fill: "none" }, svg);
    const [top, bottom, left, right] = [
      clampY(point.yHigh),
      clampY(point.yLow),
      clampX(point.xLow),
      clampX(point.xHigh),
    ];
    make("path", { d: `M${x} ${top}V${bottom}M${x - 4} ${top}h8M${x - 4} ${bottom}h8` }, group);
    make("path", { d: `M${left} ${y}H${right}M${left} ${y - 4}v8M${right} ${y - 4}v8` }, group);
    boxes.push([x - 5, top, x + 5, bottom]);
    lines.push(
      ...boardLineBoxes([
        [left, y],
        [right, y],
      ]),
    );
  };
  const label = (point, title, note, strong, gap) => {
    const [x, y] = at(point),
      bold = `600 12.5px ${FONT}`;
    pen.font = bold;
    const wide = Math.max(pen.measureText(title).width, (pen.font = `12px ${FONT}`) && pen.measureText(note).width),
      high = note ? 30 : 14;
    const place = boardPlace(boxes, lines, [x, y], [wide + 4, high], [2, 0, width - 2, frame.bottom], gap);
    if (!place) return;
    const attributes = { "text-anchor": place.anchor, style: "unicode-bidi:plaintext" };
    boardLabel(svg, place.x, place.top + 12, title, { ...attributes, ...strong });
    if (note) boardLabel(svg, place.x, place.top + 26, note, { ...attributes, "font-size": 12 });
  };
  data.others.forEach((point, place) => {
    if (point.y === null) return;
    const [x, y] = at(point);
    bars(point, "var(--lr-mute)", 1.2);
    const shape = ["M-6 -6H6V6H-6Z", "M0 -7L7 6H-7Z", "M0 -8L8 0L0 8L-8 0Z"][place % 3];
    make(
      "path",
      {
        d: shape,
        transform: `translate(${x} ${y})`,
        fill: "var(--lr-bg)",
        stroke: "var(--lr-mute)",
        "stroke-width": 1.6,
        class: "other",
      },
      svg,
    );
  });
  if (data.pinned.y !== null) bars(data.pinned, "var(--lr-text)", 1.6);
  if (data.now.y !== null && !making) bars(data.now, "var(--lr-prim)", 2);
  boardTrail(svg, data, at, onTrail);
  if (data.pinned.y !== null) {
    const [x, y] = at(data.pinned),
      pinned = make("g", { class: "pinned", transform: `translate(${x} ${y})` }, svg);
    make("circle", { r: 7, fill: "var(--lr-bg)", stroke: "var(--lr-text)", "stroke-width": 2 }, pinned);
    make("circle", { r: 2.4, fill: "var(--lr-text)" }, pinned);
  }
  let now = null;
  if (data.now.y !== null) {
    now = at(data.now);
    boardDisc(svg, now, from, making);
    boardBeyond(svg, data.now, axes, frame, now);
    if (!data.now.isPinned)
      label(
        data.now,
        withColon(data.words.now, data.now.name),
        data.now.text,
        { fill: "var(--lr-primtext,var(--lr-prim))", "font-weight": 600 },
        18,
      );
  }
  if (data.pinned.y !== null)
    label(
      data.pinned,
      withColon(data.words.pinned, data.pinned.name),
      data.pinned.text,
      { fill: "var(--lr-text)", "font-weight": 600 },
      14,
    );
  for (const point of data.others)
    if (point.y !== null) label(point, point.name, point.text, { fill: "var(--lr-text)", "font-weight": 600 }, 14);
  [...data.trail].reverse().forEach((point) => {
    if (point.y !== null && !point.isPinned) label(point, point.name, "", {}, 8);
  });
  return { now, at };
}

function boardGrid(svg, data, axes, frame, atX, atY) {
  const grid = make("g", {}, svg);
  if (axes.budget && axes.budget < axes.x)
    make(
      "rect",
      {
        x: atX(axes.budget),
        y: frame.top,
        width: frame.right - atX(axes.budget),
        height: frame.bottom - frame.top,
        fill: "var(--lr-band)",
      },
      grid,
    );
  const ticks = boardTicks(axes.low, axes.high, 6),
    places = ticks.every((tick) => Number.isInteger(Number((10 * tick).toPrecision(6)))) ? 1 : 2;
  for (const tick of ticks) {
    make("path", { d: `M${frame.left} ${atY(tick)}H${frame.right}`, stroke: "var(--lr-line)" }, grid);
    const shown = data.share ? scoreText(tick, places) : String(tick);
    boardLabel(grid, frame.left - 7, atY(tick) + 4, shown, { "text-anchor": "end", "font-size": 12 });
  }
  for (const tick of boardTicks(0, axes.x, frame.right - frame.left < 400 ? 4 : 6))
    boardLabel(grid, atX(tick), frame.bottom + 17, tick.toLocaleString("en"), {
      "text-anchor": tick >= axes.x ? "end" : "middle",
      "font-size": 12,
    });
  const middle = (frame.left + frame.right) / 2,
    title = data.near ? `${data.words.x_title} · ${data.words.axis_near}` : data.words.x_title;
  boardLabel(grid, middle, frame.bottom + 35, title, { "text-anchor": "middle", "font-size": 12 });
  if (axes.budget) {
    const x = atX(axes.budget),
      after = axes.budget / axes.x < 0.45;
    make(
      "path",
      { d: `M${x} ${frame.top}V${frame.bottom}`, stroke: "var(--lr-mute)", "stroke-dasharray": "5 4" },
      grid,
    );
    boardLabel(
      grid,
      x + (after ? 6 : -6),
      frame.bottom - 8,
      data.words.budget.replace("{tokens}", axes.budget.toLocaleString("en")),
      { "text-anchor": after ? "start" : "end", "font-size": 12 },
    );
  }
}

// The points that the trail's line goes through.
function boardPath(data) {
  const points = data.trail.filter((point) => point.y !== null);
  return data.now.y === null ? points : [...points, data.now];
}

// The settings that were left: rings joined by a line that grows stronger towards now.
function boardTrail(svg, data, at, onTrail) {
  const [weak, strong] = BOARD_TRAIL_OPACITY,
    path = boardPath(data);
  path.slice(1).forEach((point, place) => {
    const [[x1, y1], [x2, y2]] = [at(path[place]), at(point)],
      opacity = weak + ((strong - weak) * (place + 1)) / Math.max(1, path.length - 1);
    make(
      "line",
      { x1, y1, x2, y2, stroke: "var(--lr-prim)", "stroke-width": 1.6, "stroke-opacity": opacity.toFixed(2) },
      svg,
    );
  });
  data.trail.forEach((point, place) => {
    if (point.y === null || point.isPinned) return; // the ring of the pinned one stands there
    const [x, y] = at(point);
    const mark = make(
      "g",
      {
        class: "left",
        transform: `translate(${x} ${y})`,
        tabindex: "0",
        role: "button",
        "data-place": String(place),
        "aria-label": withColon(point.name, withCommas(point.text, point.against)),
      },
      svg,
    );
    make("circle", { r: 11, fill: "transparent" }, mark);
    make("circle", { r: 4, fill: "var(--lr-bg)", stroke: "var(--lr-prim)", "stroke-width": 1.8 }, mark);
    onTrail(mark, point, place, [x, y]);
  });
}

function boardDisc(svg, [x, y], from, making) {
  const disc = make("g", { class: making ? "now making" : "now", transform: `translate(${x} ${y})` }, svg);
  make("circle", { r: 12, fill: "var(--lr-prim)", "fill-opacity": making ? 0 : 0.16 }, disc);
  make(
    "circle",
    making
      ? { r: 6.5, fill: "var(--lr-bg)", stroke: "var(--lr-prim)", "stroke-width": 2, "stroke-dasharray": "3 2" }
      : { r: 6.5, fill: "var(--lr-prim)" },
    disc,
  );
  if (from && (from[0] !== x || from[1] !== y) && !matchMedia("(prefers-reduced-motion: reduce)").matches)
    disc.animate([{ transform: `translate(${from[0]}px,${from[1]}px)` }, { transform: `translate(${x}px,${y}px)` }], {
      duration: 180,
      easing: "ease-out",
    });
}

// A point beyond the edge of axes that hold still: an arrow there, with its value.
function boardBeyond(svg, point, axes, frame, [x, y]) {
  const right = point.x > axes.x,
    up = point.y > axes.high,
    down = point.y < axes.low;
  if (!right && !up && !down) return;
  const turn = right ? 0 : up ? -90 : 90;
  make(
    "path",
    {
      d: "M12 0l-7 -5v10z",
      fill: "var(--lr-prim)",
      transform: `translate(${x} ${y}) rotate(${turn})`,
      class: "beyond",
    },
    svg,
  );
}
