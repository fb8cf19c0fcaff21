// The passages of a play as cards below its graph, and the threads from the nodes that lead to each.
function drawThread(thread, X, parent) {
  const line = make(
    "path",
    { class: "thread", d: curve(thread.points, X), "data-source": thread.source, "data-to-card": thread.card },
    parent,
  );
  line.style.strokeWidth = Math.min(6, 1 + 0.7 * thread.n);
}

function drawCard(card, view, parent) {
  const { X, span, small, data, words } = view,
    item = data.items[card.id] ?? {};
  const w = card.width * span - 1,
    h = card.height,
    left = X(card.x) - w / 2,
    top = card.y - h / 2;
  const change = item.change ? ` ${item.change}` : "";
  const group = make("g", { class: `node card${change}`, "data-card": card.id, "data-id": card.id }, parent);
  group.cardMembers = card.members?.length ? card.members : null;
  make(
    "title",
    {},
    group,
    card.more ? filled(words.more, { n: card.more }) : withCommas(item.mark, item.name, item.place),
  );
  press(group, () => view.open(card.more ? "cards" : "card", card.id));
  make("rect", { class: "ring", x: left - 3, y: top - 3, width: w + 6, height: h + 6, rx: 6 }, group);
  make("rect", { class: "card-shape", x: left, y: top, width: w, height: h, rx: 3 }, group);
  if (card.more) {
    make("text", { class: "card-more", x: X(card.x), y: card.y + 4 }, group, filled(words.more, { n: card.more }));
    return;
  }
  const sign = { entered: "+ ", left: "− " }[item.change] ?? "",
    mark = item.mark ? sign + item.mark : item.change === "left" ? "−" : "–";
  pen.font = `650 11px ${FONT}`;
  const chip = pen.measureText(mark).width + 10;
  make("rect", { class: "card-mark", x: left + 7, y: top + 7, width: chip, height: 16, rx: 3 }, group);
  make("text", { class: "card-letter", x: left + 7 + chip / 2, y: top + 19 }, group, mark);
  if (item.place && w > chip + 60)
    make("text", { class: "card-place", x: left + w - 7, y: top + 19 }, group, item.place);
  const size = small ? 10.5 : 12,
    title = wrap(item.name ?? "", w - 14, 1, `600 ${size}px ${FONT}`)[0];
  writeName("card-name", { x: left + 7, y: top + 38, style: `font-size:${size}px` }, group, title, left + w - 7);
  const counted = data.n_anchors
    ? filled(words.of, { n: item.n ?? 0, total: data.n_anchors })
    : typeof item.score === "number"
      ? item.score.toFixed(2)
      : "";
  make("text", { class: "card-count", x: left + w - 7, y: top + h - 8 }, group, counted);
  pen.font = `600 11px ${FONT}`;
  const room = w - 20 - pen.measureText(counted).width;
  if (data.n_anchors) drawDots(left + 7, top + h - 12, room, item.n ?? 0, data.n_anchors, group);
  else if (typeof item.score === "number") drawScore(left + 7, top + h - 14, room, item, data, group);
}

// A dot for each that could lead to the passage, filled for those that do; in two rows, where they fit.
function drawDots(x, y, room, n, of, group) {
  const rows = of > 12 ? 2 : 1,
    columns = Math.ceil(of / rows),
    pitch = Math.min(7, room / columns);
  if (pitch < 4) return;
  for (let place = 0; place < of; place += 1) {
    const cx = x + pitch * ((place % columns) + 0.5),
      cy = y + (rows === 1 ? 0 : pitch * (Math.floor(place / columns) - 0.5));
    make("circle", { class: place < n ? "card-dot" : "card-dot hollow", cx, cy, r: pitch * 0.36 }, group);
  }
}

// The score as a bar beside the best one.
function drawScore(x, y, room, item, data, group) {
  const scores = Object.values(data.items)
    .filter((each) => each.is_card && typeof each.score === "number")
    .map((each) => each.score);
  const most = Math.max(...scores);
  if (most <= 0 || room < 12) return;
  make("rect", { class: "card-track", x, y, width: room, height: 5, rx: 2.5 }, group);
  make(
    "rect",
    { class: "card-bar", x, y, width: Math.max(2, (room * Math.max(0, item.score)) / most), height: 5, rx: 2.5 },
    group,
  );
}
