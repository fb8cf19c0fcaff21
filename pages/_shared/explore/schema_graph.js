// The schema: a box a type, a line a pair of types, as wide as it has relations. Pointing at a type shows all of its
// lines; a click on a type, a line or a row of the table asks the page to filter by it.
const LINES = 16; // drawn at first, the most frequent

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".lr-schema"), figure = root.querySelector(".lr-schema-figure");
  const pick = (types) => setTriggerValue("picked", types.map((at) => data.types[at].name));
  const chosen = new Set(data.chosen);
  const redraw = () => draw(figure, data, chosen, pick);
  redraw();
  table(root.querySelector(".lr-schema-table"), data, chosen, pick);
  legendOf(root.querySelector(".lr-schema-legend"), data.words.legend);
  figureTools(root.querySelector(".lr-schema-left"), { ...data.tools, asTable: () => root.querySelector(".lr-schema-table button")?.focus() });
  let width = figure.clientWidth;
  const watcher = new ResizeObserver(() => { if (Math.abs(figure.clientWidth - width) > 4) { width = figure.clientWidth; redraw(); } });
  watcher.observe(figure);
  return () => watcher.disconnect();
}

function draw(figure, data, chosen, pick) {
  const width = figure.clientWidth || 600, layout = data.layouts.filter((each) => each.width <= Math.max(width + 60, data.layouts[0].width)).pop();
  const stretch = width / layout.width, held = figure.contains(document.activeElement) ? document.activeElement.dataset.node : null;
  const svg = make("svg", { width, height: layout.height, viewBox: `0 0 ${width} ${layout.height}`, role: "group", "aria-label": data.label });
  const at = new Map(layout.places.map((place) => [place.of, { x: place.x * stretch, y: place.y, w: Math.min(layout.box_width * Math.max(1, stretch), layout.box_width * 1.25), h: layout.box_height }]));
  const links = make("g", {}, svg), boxes = make("g", {}, svg), pills = make("g", { class: "pills" }, svg);
  const drawn = data.pairs.filter((pair) => pair.a !== pair.b && at.has(pair.a) && at.has(pair.b));
  const most = Math.max(1, ...drawn.map((pair) => pair.count)), taken = [...at.values()].map((box) => [box.x - box.w / 2 - 3, box.y - box.h / 2 - 3, box.x + box.w / 2 + 3, box.y + box.h / 2 + 3]);
  const lone = new Set(at.keys()); // types without a line so far: each has its strongest one
  const shown = (pair, place) => { const first = lone.has(pair.a) || lone.has(pair.b); lone.delete(pair.a); lone.delete(pair.b); return place < LINES || first; };
  drawn.forEach((pair, place) => drawPair({ ...pair, weak: !shown(pair, place) }, { data, at, chosen, pick, most, taken, layout, width }, links, pills));
  for (const [of, box] of at) drawType(of, box, { data, layout, chosen, pick }, boxes);
  figure.replaceChildren(svg);
  const nodes = [...svg.querySelectorAll(".node")];
  (nodes.find((node) => node.dataset.node === held) ?? nodes[0])?.setAttribute("tabindex", "0");
  if (held) nodes.find((node) => node.dataset.node === held)?.focus();
  figure.onkeydown = (event) => walkNodes(figure, event);
  const point = (of) => { for (const line of svg.querySelectorAll("[data-a]")) line.classList.toggle("hot", of !== undefined && (line.dataset.a === of || line.dataset.b === of)); svg.classList.toggle("pointing", of !== undefined); };
  svg.onpointerover = (event) => point(event.target.closest(".node")?.dataset.node);
  svg.onpointerleave = () => point(undefined);
  svg.addEventListener("focusin", (event) => point(event.target.closest(".node")?.dataset.node));
  svg.addEventListener("focusout", () => point(undefined));
}

function drawPair(pair, { data, at, chosen, pick, most, taken, layout, width }, parent, pills) {
  const a = at.get(pair.a), b = at.get(pair.b), cx = width / 2, cy = layout.height / 2, middle = [(a.x + b.x) / 2, (a.y + b.y) / 2];
  const spoke = pair.a === middleOf(layout) || pair.b === middleOf(layout);
  const bend = spoke ? [middle[0] + (b.y - a.y) * 0.06, middle[1] - (b.x - a.x) * 0.06] : [middle[0] + (cx - middle[0]) * 0.22 + (b.y - a.y) * 0.16, middle[1] + (cy - middle[1]) * 0.22 - (b.x - a.x) * 0.16];
  const both = [pair.a, pair.b].every((of) => chosen.has(data.types[of].name)) && chosen.size === 2;
  const look = `pair${pair.weak ? " weak" : ""}${both ? " chosen" : ""}`, names = pairName(pair, data);
  const line = make("path", { class: look, d: `M${a.x} ${a.y}Q${bend[0]} ${bend[1]} ${b.x} ${b.y}`, "data-a": pair.a, "data-b": pair.b, "stroke-width": (1 + 6 * Math.sqrt(pair.count / most)).toFixed(1) }, parent);
  make("title", {}, line, `${names}: ${kinds(pair, data)}`);
  line.onclick = () => pick([pair.a, pair.b]);
  const kind = pair.kinds.length ? `: ${pair.kinds[0][0].slice(0, 18)}${pair.more ? " …" : ""}` : "", text = `${pair.count.toLocaleString("en")}${kind}`;
  pen.font = `600 11.5px ${FONT}`;
  const w = pen.measureText(text).width + 12;
  for (const t of [0.5, 0.4, 0.6, 0.32, 0.68]) {
    const x = (1 - t) ** 2 * a.x + 2 * t * (1 - t) * bend[0] + t ** 2 * b.x, y = (1 - t) ** 2 * a.y + 2 * t * (1 - t) * bend[1] + t ** 2 * b.y;
    const box = [x - w / 2, y - 9, x + w / 2, y + 9];
    if (pair.weak || box[0] < 2 || box[2] > width - 2 || taken.some(([l, top, r, bottom]) => box[0] < r && l < box[2] && box[1] < bottom && top < box[3])) continue;
    taken.push(box);
    const group = make("g", { class: `pair-pill${both ? " chosen" : ""}`, "data-a": pair.a, "data-b": pair.b }, pills);
    make("rect", { x: box[0], y: box[1], width: w, height: 18, rx: 9 }, group);
    make("text", { x, y: y + 4, "text-anchor": "middle" }, group, text).style.unicodeBidi = "plaintext";
    group.onclick = () => pick([pair.a, pair.b]);
    return;
  }
}

function middleOf(layout) { return layout.places[0].of; }

function drawType(of, box, { data, layout, chosen, pick }, parent) {
  const fold = of < 0, type = data.types[of], words = data.words;
  const name = fold ? words.types.replace("{n}", layout.folded) : type.shown, count = fold ? data.types.slice(-layout.folded).reduce((sum, each) => sum + each.count, 0) : type.count;
  const own = data.pairs.find((pair) => pair.a === of && pair.b === of), on = !fold && chosen.has(type.name);
  const group = make("g", { class: `type${fold ? " fold" : " node"}${on ? " chosen" : ""}`, "data-node": of }, parent);
  paint(group, "path");
  make("title", {}, group, fold ? words.folded.replace("{n}", layout.folded) : `${type.shown}: ${words.entities.replace("{n}", type.count.toLocaleString("en"))}${own ? `, ${words.among.replace("{n}", own.count.toLocaleString("en"))}` : ""}`);
  const rect = (out, look) => make("rect", { class: look, x: box.x - box.w / 2 - out, y: box.y - box.h / 2 - out, width: box.w + 2 * out, height: box.h + 2 * out, rx: 6 + out }, group);
  rect(3.5, "ring");
  rect(0, "under");
  rect(0, "shape");
  writeName("type-name", { x: box.x, y: box.y - 3, "text-anchor": "middle" }, group, cut(name, measure(box.w - 12, `600 13px ${FONT}`)));
  make("text", { class: "type-count", x: box.x, y: box.y + 14, "text-anchor": "middle" }, group, count.toLocaleString("en") + (own ? `  ↻ ${own.count.toLocaleString("en")}` : ""));
  if (fold) return;
  group.setAttribute("role", "button");
  group.setAttribute("tabindex", "-1");
  group.setAttribute("aria-pressed", String(on));
  group.onclick = () => pick([of]);
  group.onkeydown = (event) => { if (event.key === "Enter" || event.key === " ") { event.preventDefault(); pick([of]); } };
}

function pairName(pair, { types, words }) { return words.and.replace("{first}", () => types[pair.a].shown).replace("{second}", () => types[pair.b].shown); }

function kinds(pair, { words }) {
  const listed = pair.kinds.map(([kind, count]) => `${kind} ${count.toLocaleString("en")}`);
  if (pair.more) listed.push(words.more.replace("{n}", pair.more.toLocaleString("en")));
  return listed.length ? listed.join(", ") : pair.count.toLocaleString("en");
}

function table(host, data, chosen, pick) {
  const made = document.createElement("table"), head = made.createTHead().insertRow(), body = made.createTBody();
  for (const title of data.words.columns) { const cell = document.createElement("th"); cell.scope = "col"; cell.textContent = title; head.append(cell); }
  for (const pair of data.pairs.slice(0, data.rows)) {
    const row = body.insertRow(), button = document.createElement("button"), names = [...new Set([pair.a, pair.b])].map((of) => data.types[of].name);
    button.type = "button";
    button.textContent = pairName(pair, data);
    button.setAttribute("aria-pressed", String(names.length === chosen.size && names.every((name) => chosen.has(name))));
    button.onclick = () => pick([...new Set([pair.a, pair.b])]);
    row.insertCell().append(button);
    row.insertCell().textContent = pair.count.toLocaleString("en");
    row.insertCell().textContent = kinds(pair, data);
  }
  host.replaceChildren(made);
  if (data.words.rest) { const rest = document.createElement("p"); rest.textContent = data.words.rest.replace("{n}", data.pairs.length - data.rows); host.append(rest); }
}

function legendOf(host, texts) {
  host.replaceChildren(...["type", "pair", "chosen", "fold"].map((look, place) => {
    const item = document.createElement("span"), mark = document.createElement("i");
    mark.className = look;
    item.append(mark, texts[place]);
    return item;
  }));
}
