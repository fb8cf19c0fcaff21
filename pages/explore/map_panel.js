// Put in front of map.js: the panel beside the map (question, seeds with their scores, clusters), the table in the
// figure's place, and the card under the pointer. Every text is set by textContent.
function seedList(data, parent, act, point) {
  const { question, words } = data,
    list = makeElement("div", "seeds", parent);
  const head = makeElement("div", "line head", list);
  makeText("span", "", head, "");
  makeText("span", "", head, words.entity);
  makeText("span", "", head, "");
  makeText("span", "value", head, words.score);
  question.seeds.forEach((seed, place) => {
    const line = makeButton(`line${seed.cut ? " cut" : ""}`, list, undefined, () => act("go", seed.id));
    makeText("span", "rank", line, `${seed.rank}`);
    makeText("bdi", "name", line, seed.name);
    const track = makeElement("span", "bar", line);
    makeElement("i", "", track).style.width = `${Math.round(100 * seed.share)}%`;
    makeText("span", "value", line, seed.score ?? "–");
    if (seed.cut) line.title = words.seed_cut;
    line.onmouseenter = line.onfocus = () => point(place);
    line.onmouseleave = line.onblur = () => point(null);
  });
}

function clusterList(data, layer, parent, act, light) {
  const box = makeElement("div", "clusters", parent),
    head = makeElement("div", "line head", box);
  makeText("b", "", head, layer.title);
  makeText("span", "value", head, data.words.entities);
  layer.clusters.forEach((cluster, place) => {
    const line = makeButton("line", box, undefined, () => act("go", cluster.id));
    makeElement("span", "dot", line).style.background = data.hues[place];
    makeText("bdi", "name", line, cluster.name);
    makeText("span", "value", line, cluster.size.toLocaleString("en"));
    line.onmouseenter = line.onfocus = () => light(place);
    line.onmouseleave = line.onblur = () => light(null);
  });
  if (!layer.others) return;
  const line = makeElement("div", "line", box);
  makeElement("span", "dot", line);
  makeText("span", "name muted", line, layer.others);
  makeText("span", "value muted", line, layer.othersSize.toLocaleString("en"));
}

// light(place or null): a cluster alone at full strength. point(place or null): a seed with a second ring.
function mapPanel(data, layer, host, act, { light, point }) {
  host.replaceChildren();
  const { question, words } = data;
  if (question) {
    makeText("div", "lr-label", host, words.question);
    makeText("p", "lr-read", host, question.text);
    makeButton("link", host, words.open_in_ask, () => act("ask", ""));
    makeText("p", "muted counts", host, question.counts);
    seedList(data, host, act, point);
    makeText("p", "muted", host, words.placed);
  } else makeText("p", "muted", host, data.asked ? words.no_seeds : words.no_question);
  clusterList(data, layer, host, act, light);
}

function mapTable(data, layer, host, act, close) {
  host.replaceChildren();
  makeButton("link", host, data.words.close, close);
  const scroll = makeElement("div", "scroll", host),
    body = makeElement("table", "", scroll);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", data.words.table);
  const rank = new Map((data.question?.seeds || []).map((seed) => [seed.name, seed]));
  const head = makeElement("tr", "", body);
  for (const title of [data.words.entity, data.words.cluster, data.words.seed_rank, data.words.score])
    makeText("th", "", head, title);
  const line = (name, place, seed, open) => {
    const row = makeElement("tr", "", body),
      cluster = layer.clusters[place];
    makeButton("link", makeElement("td", "", row), name, open);
    makeText("td", "", row, cluster ? cluster.name : "–");
    makeText("td", "", row, seed ? `${seed.rank}${seed.cut ? ` (${data.words.seed_cut})` : ""}` : "–");
    makeText("td", "", row, seed?.score ?? "–");
  };
  const sampled = new Set(data.names);
  for (const seed of rank.values()) if (!sampled.has(seed.name)) line(seed.name, -1, seed, () => act("go", seed.id));
  data.names.forEach((name, place) => line(name, layer.of[place], rank.get(name), () => act("point", String(place))));
}

// The card is put where it covers no seed: below right of its point, else left, above, or farther away.
function mapCard(host, lines, [x, y], [width, height], seeds) {
  host.replaceChildren();
  lines.forEach((text, place) => makeText(place ? "div" : "b", "", host, text));
  host.hidden = false;
  const w = host.offsetWidth,
    h = host.offsetHeight;
  const tries = [12, 34, 60, 100].flatMap((gap) => [
    [x + gap, y + gap],
    [x - gap - w, y + gap],
    [x + gap, y - gap - h],
    [x - gap - w, y - gap - h],
  ]);
  const free = (/** @type {number[]} */ [left, top]) =>
    left >= 2 &&
    top >= 2 &&
    left + w <= width - 2 &&
    top + h <= height - 2 &&
    !seeds.some(([sx, sy]) => sx > left - 14 && sx < left + w + 14 && sy > top - 14 && sy < top + h + 14);
  const at = tries.find(free);
  if (!at) {
    host.hidden = true;
    return;
  }
  host.style.transform = `translate(${Math.round(at[0])}px,${Math.round(at[1])}px)`;
}
