// The lines of the schema: one for each frequent kind of relation between two types, and one for the other kinds of the
// pair. A kind has a line of its own only where its label has room; else it is counted with the others.
const PAIRS = 13,
  KIND_LINES = 17,
  SMALL_PAIRS = 9,
  SMALL_KIND_LINES = 7,
  KIND_LETTERS = 22;
const APART = 17; // px between lines of a pair
const BESIDE = [-14, 14, -24, 24]; // px above or below the line for the label of a pair that has none on it

// The lines of each pair before anything has a place: kinds by their counts over all pairs, then what is left.
function pairLines(drawn, small) {
  const kinds = drawn.flatMap((pair) => pair.kinds.map(([kind, title, count]) => ({ pair, kind, title, count })));
  const own = new Set(
    kinds
      .filter(({ pair, count }) => count > 1 || count === pair.count)
      .sort((a, b) => b.count - a.count)
      .slice(0, small ? SMALL_KIND_LINES : KIND_LINES),
  );
  return drawn.map((pair) => ({ pair, kinds: kinds.filter((each) => each.pair === pair && own.has(each)) }));
}

function restOf(pair, kinds, words) {
  const count = pair.count - kinds.reduce((sum, each) => sum + each.count, 0),
    more = pair.kinds.length + pair.more - kinds.length;
  const title =
    more > 1 || (more && kinds.length)
      ? words.more.replace("{n}", more.toLocaleString("en"))
      : more
        ? pair.kinds[kinds.length][1]
        : pair.kinds.length
          ? words.nameless
          : "";
  return {
    pair,
    kind: more === 1 && !kinds.length && pair.kinds[0][2] === count ? pair.kinds[0][0] : null,
    title,
    count,
  };
}

function drawPair({ pair, kinds, weak }, view, links, pills) {
  const { at } = view,
    a = at.get(pair.a),
    b = at.get(pair.b);
  const slots = kinds.length + (kinds.reduce((sum, each) => sum + each.count, 0) < pair.count ? 1 : 0);
  const placed = [];
  kinds.forEach((line, slot) => {
    const bend = bendOf(a, b, pair, view, (slot - (slots - 1) / 2) * APART),
      box = weak ? null : labelPlace(line, a, b, bend, view);
    if (box) placed.push({ ...line, bend, box });
  });
  const rest = restOf(pair, placed, view.data.words);
  if (rest.count > 0) {
    const bend = bendOf(a, b, pair, view, placed.length ? ((slots - 1) / 2) * APART : 0);
    const box = weak
      ? null
      : (labelPlace(rest, a, b, bend, view) ?? (placed.length ? null : labelPlace(rest, a, b, bend, view, BESIDE)));
    placed.push({ ...rest, bend, box });
  }
  for (const line of placed) drawLine(line, weak, a, b, view, links, pills);
}

// The middle of a line, away from the picture's middle for pairs on the ring. aside: px from the pair's own middle.
function bendOf(a, b, pair, { layout, width }, aside) {
  const cx = width / 2,
    cy = layout.height / 2,
    middle = [(a.x + b.x) / 2, (a.y + b.y) / 2],
    inMiddle = layout.places[0].of;
  const spoke = pair.a === inMiddle || pair.b === inMiddle,
    long = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const [nx, ny] = [(b.y - a.y) / long, -(b.x - a.x) / long],
    out = (spoke ? 0.06 : 0.16) * long + 2 * aside;
  const pull = spoke ? 0 : 0.22;
  return [middle[0] + (cx - middle[0]) * pull + nx * out, middle[1] + (cy - middle[1]) * pull + ny * out];
}

function labelPlace(line, a, b, bend, { taken, width, layout }, shifts = [0]) {
  pen.font = `600 11.5px ${FONT}`;
  const w = pen.measureText(labelOf(line)).width + 12;
  for (const shift of shifts)
    for (const t of [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73]) {
      const x = (1 - t) ** 2 * a.x + 2 * t * (1 - t) * bend[0] + t ** 2 * b.x,
        y = (1 - t) ** 2 * a.y + 2 * t * (1 - t) * bend[1] + t ** 2 * b.y + shift;
      const box = [x - w / 2, y - 9, x + w / 2, y + 9];
      if (box[0] < 2 || box[2] > width - 2 || box[1] < 2 || box[3] > layout.height - 2) continue;
      if (
        taken.some(([l, top, r, bottom]) => box[0] < r + 2 && l - 2 < box[2] && box[1] < bottom + 1 && top - 1 < box[3])
      )
        continue;
      taken.push(box);
      return box;
    }
  return null;
}

function labelOf({ count, title }) {
  const name = title.length > KIND_LETTERS ? `${title.slice(0, KIND_LETTERS - 1).trimEnd()}…` : title;
  return name ? withColon(count.toLocaleString("en"), name) : count.toLocaleString("en");
}

function drawLine(line, weak, a, b, { data, chosen, pick, pickKind, most }, links, pills) {
  const { pair, kind, bend, box } = line,
    ofPair = chosen.size === 2 && [pair.a, pair.b].every((of) => chosen.has(data.types[of].name));
  const on = kind === null ? ofPair : data.chosen_kinds.includes(kind);
  const look = `${weak ? " weak" : ""}${on ? " chosen" : ""}${kind === null ? "" : " kind"}`,
    act = () => (kind === null ? pick([pair.a, pair.b]) : pickKind(kind));
  const ends = { "data-a": pair.a, "data-b": pair.b };
  const path = make(
    "path",
    {
      class: `pair${look}`,
      d: `M${a.x} ${a.y}Q${bend[0]} ${bend[1]} ${b.x} ${b.y}`,
      "stroke-width": (1 + 6 * Math.sqrt(line.count / most)).toFixed(1),
      ...ends,
    },
    links,
  );
  const about = withColon(pairName(pair, data), withCommas(line.count.toLocaleString("en"), line.title));
  make("title", {}, path, about);
  path.onclick = act;
  if (!box) return;
  const group = make("g", { class: `pair-pill${look}`, ...ends }, pills),
    text = labelOf(line);
  make("title", {}, group, about);
  make("rect", { x: box[0], y: box[1], width: box[2] - box[0], height: 18, rx: 9 }, group);
  make("text", { x: (box[0] + box[2]) / 2, y: box[1] + 13, "text-anchor": "middle" }, group, text).style.unicodeBidi =
    "plaintext";
  group.onclick = act;
}

function pairName(pair, { types, words }) {
  return words.and.replace("{first}", () => types[pair.a].shown).replace("{second}", () => types[pair.b].shown);
}
