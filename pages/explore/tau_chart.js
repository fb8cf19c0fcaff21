// Relations of a layer by lambda as bars, with a handle for tau between them: drag it, or use the arrow keys.
// lambda > tau is strict: with tau 2 the relations of lambda 3 are summarised, those of 2 are not.
const TAU_TOP = 62,
  TAU_HEIGHT = 150,
  TAU_AXIS = 62; // right of the bars, for the numbers of the axis

function thousands(n) {
  return n.toLocaleString("en-US");
}

function signedNumber(n) {
  return n > 0 ? `+${thousands(n)}` : n < 0 ? `−${thousands(-n)}` : "";
}

function tauMost(layer) {
  return layer.bars[layer.bars.length - 1][1];
}

// How far along, in bars, the border between lambda = tau and the next one lies.
function tauPlace(layer, tau) {
  for (let place = 0; place < layer.bars.length; place += 1) {
    const [first, last] = layer.bars[place];
    if (tau < last) return place + Math.max(0, tau - first + 1) / (last - first + 1);
  }
  return layer.bars.length;
}

function tauAt(layer, along) {
  const place = Math.min(layer.bars.length - 1, Math.max(0, Math.floor(along)));
  const [first, last] = layer.bars[place];
  return Math.max(0, Math.min(tauMost(layer), Math.round(first - 1 + (along - place) * (last - first + 1))));
}

function tauChart(host, layer, tau, words, moved) {
  const whole = Math.max(280, host.clientWidth || 430),
    width = whole - TAU_AXIS,
    slot = width / layer.bars.length,
    bottom = TAU_TOP + TAU_HEIGHT,
    built = Math.floor(layer.built ?? tau);
  const svg = make("svg", {
    width: whole,
    height: bottom + 26,
    viewBox: `0 0 ${whole} ${bottom + 26}`,
    role: "group",
    "aria-label": words.chart,
  });
  const pattern = make(
    "pattern",
    { id: "lr-tau-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    make("defs", {}, svg),
  );
  make("rect", { width: 6, height: 6, fill: "var(--lr-bg)" }, pattern);
  make("rect", { width: 2.6, height: 6, fill: "var(--lr-entered)" }, pattern);
  const counts = layer.bars.map(([first, last]) => countsOf(layer, first, last, tau, built)),
    most = Math.max(1, ...counts.map((each) => each.all));
  gridLines(svg, whole, most, words);
  layer.bars.forEach(([first, last], place) =>
    bar(
      svg,
      place,
      slot,
      counts[place],
      most,
      tau < built,
      last > first ? (place === layer.bars.length - 1 ? `${first}+` : `${first}`) : `${first}`,
      `λ ${first === last ? first : `${first}–${last}`}`,
      words,
    ),
  );
  const x = Math.max(1.5, Math.min(width - 1.5, tauPlace(layer, tau) * slot));
  if (layer.built !== null) {
    const at = Math.min(width - 1, tauPlace(layer, built) * slot),
      right = at < 110 || (tau <= built && at < width - 110);
    makeLine(svg, [at, 30], [at, bottom], "mute", { "stroke-dasharray": "4 3" });
    makeLabel(svg, at + (right ? 6 : -6), 40, words.built, { "text-anchor": right ? "start" : "end" });
  }
  handle(svg, layer, x, tau, bottom, words, whole, slot, moved);
  host.replaceChildren(svg);
}

function countsOf(layer, first, last, tau, built) {
  const sums = { joined: 0, changed: 0, summarised: 0, all: 0 };
  layer.strengths.forEach((strength, place) => {
    if (strength < first || strength > last) return;
    const kind = strength > tau === strength > built ? (strength > tau ? "summarised" : "joined") : "changed";
    sums[kind] += layer.counts[place];
    sums.all += layer.counts[place];
  });
  return sums;
}

// Returns how many pairs of clusters, in words.
function pairsOf(count, words) {
  return count === 1 ? words.pair : words.pairs.replace("{count}", thousands(count));
}

function gridLines(svg, width, most, words) {
  const power = 10 ** Math.floor(Math.log10(most / 2 || 1)),
    step = [1, 2, 5, 10].map((each) => each * power).find((each) => most / each <= 4) || most;
  for (let value = step, top = Math.floor(most / step) * step; value <= top; value += step) {
    const y = TAU_TOP + TAU_HEIGHT * (1 - value / most);
    makeLine(svg, [0, y], [width, y], "line");
    makeLabel(svg, width, y - 4, value === top ? pairsOf(value, words) : thousands(value), {
      ...HALO,
      "font-size": 11.5,
      "text-anchor": "end",
    });
  }
  makeLine(svg, [0, TAU_TOP + TAU_HEIGHT], [width, TAU_TOP + TAU_HEIGHT], "mute");
}

function bar(svg, place, slot, counts, most, more, name, range, words) {
  const width = slot * 0.76,
    x = place * slot + (slot - width) / 2,
    bottom = TAU_TOP + TAU_HEIGHT,
    group = make("g", {}, svg);
  let y = bottom;
  const fills = {
    joined: ["var(--lr-base)", "none", 0.55],
    changed: ["url(#lr-tau-hatch)", "var(--lr-entered)", 1],
    summarised: ["var(--lr-inter)", "none", 1],
  };
  for (const [kind, [fill, stroke, opacity]] of Object.entries(fills)) {
    if (!counts[kind]) continue;
    const height = Math.max(1.5, (TAU_HEIGHT * counts[kind]) / most);
    y -= height;
    make("rect", { x, y, width, height, rx: 1.5, fill, stroke, "fill-opacity": opacity, class: kind }, group);
  }
  const changed = counts.changed ? `${more ? "+" : "−"}${thousands(counts.changed)}` : "";
  make("title", {}, group, withColon(range, pairsOf(counts.all, words)));
  if (counts.all)
    makeLabel(group, x + width / 2, y - 5, changed || thousands(counts.all), {
      ...HALO,
      "font-weight": changed ? 650 : 400,
      "text-anchor": "middle",
      fill: "var(--lr-text)",
    });
  makeLabel(group, x + width / 2, bottom + 17, name, { "text-anchor": "middle" });
}

function handle(svg, layer, x, tau, bottom, words, width, slot, moved) {
  const text = words.tau.replace("{tau}", tau),
    wide = Math.max(58, text.length * 7 + 30),
    left = Math.max(0, Math.min(width - wide, x - wide / 2));
  const group = make(
    "g",
    {
      class: "handle",
      role: "slider",
      tabindex: 0,
      "aria-label": words.handle,
      "aria-valuemin": 0,
      "aria-valuemax": tauMost(layer),
      "aria-valuenow": tau,
      "aria-valuetext": text,
      "aria-orientation": "horizontal",
    },
    svg,
  );
  make("rect", { x: x - 12, y: 24, width: 24, height: bottom - 24, fill: "transparent" }, group);
  makeLine(group, [x, 24], [x, bottom], "prim", { "stroke-width": 2.5 });
  make("rect", { x: left, y: 2, width: wide, height: 24, rx: 12, fill: "var(--lr-prim)", class: "pill" }, group);
  makeLabel(group, left + wide / 2, 18.5, `‹ ${text} ›`, {
    "font-size": 12.5,
    "font-weight": 600,
    "text-anchor": "middle",
    fill: "var(--lr-onprim)",
  });
  group.onkeydown = (event) => {
    const steps = {
      ArrowLeft: -1,
      ArrowDown: -1,
      ArrowRight: 1,
      ArrowUp: 1,
      PageDown: -10,
      PageUp: 10,
      Home: -Infinity,
      End: Infinity,
    };
    if (!(event.key in steps)) return;
    event.preventDefault();
    moved(Math.max(0, Math.min(tauMost(layer), tau + steps[event.key])), true);
  };
  group.onpointerdown = (event) => {
    event.preventDefault();
    const follow = (to) => {
      const box = svg.isConnected ? svg.getBoundingClientRect() : last;
      last = box;
      moved(tauAt(layer, (to.clientX - box.left) / slot), true);
    };
    let last = svg.getBoundingClientRect();
    const end = () => {
      window.removeEventListener("pointermove", follow);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    window.addEventListener("pointermove", follow);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    group.focus();
  };
}
