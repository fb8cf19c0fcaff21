// Put in front of map.js: the panel beside the map (question, seeds with their scores, clusters), the table in the
// figure's place, and the card under the pointer. Every text is set by textContent.
globalThis.lrMapParts = (() => {
  const el = (tag, className, text, parent) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) {
      made.textContent = text;
      made.dir = "auto";
    }
    if (parent) parent.append(made);
    return made;
  };
  const press = (className, text, parent, run) => {
    const made = el("button", className, text, parent);
    made.type = "button";
    made.onclick = run;
    return made;
  };

  function seedList(data, parent, act, point) {
    const { question, words } = data,
      list = el("div", "seeds", undefined, parent);
    const head = el("div", "line head", undefined, list);
    el("span", "", "", head);
    el("span", "", words.entity, head);
    el("span", "", "", head);
    el("span", "value", words.score, head);
    question.seeds.forEach((seed, place) => {
      const line = press(`line${seed.cut ? " cut" : ""}`, undefined, list, () => act("go", seed.id));
      el("span", "rank", `${seed.rank}`, line);
      el("bdi", "name", seed.name, line);
      const track = el("span", "bar", undefined, line);
      el("i", "", undefined, track).style.width = `${Math.round(100 * seed.share)}%`;
      el("span", "value", seed.score ?? "–", line);
      if (seed.cut) line.title = words.seed_cut;
      line.onmouseenter = line.onfocus = () => point(place);
      line.onmouseleave = line.onblur = () => point(null);
    });
  }

  function clusterList(data, layer, parent, act, light) {
    const box = el("div", "clusters", undefined, parent),
      head = el("div", "line head", undefined, box);
    el("b", "", layer.title, head);
    el("span", "value", data.words.entities, head);
    layer.clusters.forEach((cluster, place) => {
      const line = press("line", undefined, box, () => act("go", cluster.id));
      el("span", "dot", undefined, line).style.background = data.hues[place];
      el("bdi", "name", cluster.name, line);
      el("span", "value", cluster.size.toLocaleString("en"), line);
      line.onmouseenter = line.onfocus = () => light(place);
      line.onmouseleave = line.onblur = () => light(null);
    });
    if (!layer.others) return;
    const line = el("div", "line", undefined, box);
    el("span", "dot", undefined, line);
    el("span", "name muted", layer.others, line);
    el("span", "value muted", layer.othersSize.toLocaleString("en"), line);
  }

  // light(place or null): a cluster alone at full strength. point(place or null): a seed with a second ring.
  function panel(data, layer, host, act, { light, point }) {
    host.replaceChildren();
    const { question, words } = data;
    if (question) {
      el("div", "lr-label", words.question, host);
      el("p", "lr-read", question.text, host);
      press("link", words.open_in_ask, host, () => act("ask", ""));
      el("p", "muted counts", question.counts, host);
      seedList(data, host, act, point);
      el("p", "muted", words.placed, host);
    } else el("p", "muted", data.asked ? words.no_seeds : words.no_question, host);
    clusterList(data, layer, host, act, light);
  }

  function table(data, layer, host, act, close) {
    host.replaceChildren();
    press("link", data.words.close, host, close);
    const scroll = el("div", "scroll", undefined, host),
      body = el("table", "", undefined, scroll);
    scroll.tabIndex = 0;
    scroll.setAttribute("role", "region");
    scroll.setAttribute("aria-label", data.words.table);
    const rank = new Map((data.question?.seeds || []).map((seed) => [seed.name, seed]));
    const head = el("tr", "", undefined, body);
    for (const title of [data.words.entity, data.words.cluster, data.words.seed_rank, data.words.score])
      el("th", "", title, head);
    const line = (name, place, seed, open) => {
      const row = el("tr", "", undefined, body),
        cluster = layer.clusters[place];
      press("link", name, el("td", "", undefined, row), open);
      el("td", "", cluster ? cluster.name : "–", row);
      el("td", "", seed ? `${seed.rank}${seed.cut ? ` (${data.words.seed_cut})` : ""}` : "–", row);
      el("td", "", seed?.score ?? "–", row);
    };
    const sampled = new Set(data.names);
    for (const seed of rank.values()) if (!sampled.has(seed.name)) line(seed.name, -1, seed, () => act("go", seed.id));
    data.names.forEach((name, place) => line(name, layer.of[place], rank.get(name), () => act("point", String(place))));
  }

  // The card is put where it covers no seed: below right of its point, else left, above, or farther away.
  function card(host, lines, [x, y], [width, height], seeds) {
    host.replaceChildren();
    lines.forEach((text, place) => el(place ? "div" : "b", "", text, host));
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

  return { el, press, panel, table, card };
})();
