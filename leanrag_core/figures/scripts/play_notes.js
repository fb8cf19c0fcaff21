// What a play says beside its figure: the chosen node or tray, the bar of tokens, the legend, and the same as a table.
const PART_MARKS = ["plain", "hatched", "slanted", "plain"];

// Names of a tray, of all ranked items, or the card of a node; it takes no room from the figure.
function showNote(host, data, words, note, { close, explore, read }) {
  host.replaceChildren();
  host.hidden = !note;
  if (!note) return;
  host.tabIndex = 0; // it scrolls
  host.setAttribute("role", "region");
  host.setAttribute("aria-label", note.title);
  const head = addHtml("div", "note-head", "", host);
  addHtml("b", "", note.title, head).dir = "auto";
  if (note.facts) addHtml("span", "facts-line", note.facts, head);
  if (note.closes) {
    const button = addHtml("button", "close", "×", head);
    button.type = "button";
    button.title = words.close;
    button.setAttribute("aria-label", words.close);
    button.onclick = close;
  }
  if (note.about) addHtml("div", "about", note.about, host).dir = "auto";
  const actions = addHtml("div", "actions", "", host);
  const act = (label, run) => {
    const button = addHtml("button", "", label, actions);
    button.type = "button";
    button.onclick = run;
  };
  if (note.explore && explore) act(words.explore, () => explore(note.explore));
  if (note.read && read) act(words.document, () => read(note.read));
  if (!actions.children.length) actions.remove();
  if (note.rows.length) {
    const list = addHtml("ol", "ranked", "", host);
    for (const row of note.rows) {
      if (row.head) addHtml("li", "head", row.head, list).dir = "auto";
      const line = addHtml("li", row.change ?? "", "", list);
      addHtml("i", "", row.rank ?? "", line);
      addHtml(
        "bdi",
        "",
        { entered: "+ ", left: "− " }[row.change] ? { entered: "+ ", left: "− " }[row.change] + row.name : row.name,
        line,
      );
      if (row.value) addHtml("s", "", row.value, line);
    }
  }
  if (note.text) addHtml("p", "text", note.text, host).dir = "auto";
}

// Items as rows of a list, the best first. Ranks count within a role: where there are several, each has its own head.
function rowsOf(data, ids) {
  const known = ids.map((id) => data.items[id]).filter(Boolean);
  const roles = [...new Set(known.map((item) => item.role))];
  const place = (item) => roles.indexOf(item.role);
  known.sort((a, b) => place(a) - place(b) || (a.rank ?? 1e6) - (b.rank ?? 1e6));
  return known.map((item, n) => ({
    head: roles.length > 1 && item.role !== known[n - 1]?.role ? item.role : "",
    rank: item.mark && item.is_card ? item.mark : item.rank,
    name: item.name,
    change: item.change,
    value: typeof item.score === "number" ? item.score.toFixed(2) : "",
  }));
}

function noteOf(data, words, kind, id, members) {
  const item = data.items[id] ?? {};
  if (kind === "tray" || kind === "cards") {
    const parent = data.items[id.replace(/^tray-/, "")];
    return {
      id,
      title: parent?.name ?? words.ranking,
      facts: filled(words.holds, { n: members.length }),
      rows: rowsOf(data, members),
      closes: true,
      explore: parent && !parent.is_card ? id.replace(/^tray-/, "") : "",
    };
  }
  const below = Object.entries(data.items)
    .filter(([, each]) => each.parent === id)
    .map(([each]) => each);
  const facts = [item.mark, typeof item.layer === "number" ? `L${item.layer}` : item.kind, item.place]
    .filter(Boolean)
    .join(" · ");
  return {
    id,
    title: item.name,
    facts,
    about: kind === "card" ? item.role : item.about,
    rows: rowsOf(data, below),
    text: item.text,
    closes: true,
    explore: kind === "node" ? id : "",
    read: kind === "card" && item.change !== "left" ? id : "",
  };
}

// The bar fills as what it holds is lit; what is still to come is dashed.
function tokenBar(parent, data, words) {
  const host = addHtml("div", "tokens", "", parent),
    whole = data.sections.reduce((sum, part) => sum + part.tokens, 0) || 1;
  const head = addHtml("div", "tokens-head", "", host);
  addHtml("b", "", words.context, head);
  const said = addHtml("span", "", "", head);
  const bar = addHtml("div", "tokens-bar", "", host),
    parts = addHtml("div", "tokens-parts", "", host);
  const drawn = data.sections.map((section, place) => {
    const fill = addHtml("i", PART_MARKS[place % 4], "", bar);
    fill.style.setProperty("--c", `var(--lr-${section.colour})`);
    const cell = addHtml("div", "", "", parts),
      name = addHtml("b", "", "", cell);
    addHtml("i", "swatch", "", name).style.background = `var(--lr-${section.colour})`;
    name.append(`${section.letter}\u2002${section.title}`);
    const count = addHtml("em", "", "", cell);
    if (section.note) addHtml("em", "", section.note, cell);
    return { fill, count, section };
  });
  const rest = data.sections.map((section) => {
    const each = addHtml("i", "to-come", "", bar);
    each.style.setProperty("--c", `var(--lr-${section.colour})`);
    return each;
  });
  return (tokens) => {
    const spent = tokens.reduce((sum, n) => sum + n, 0);
    drawn.forEach(({ fill, count, section }, place) => {
      fill.style.width = `${(100 * tokens[place]) / whole}%`;
      rest[place].style.width = `${(100 * (section.tokens - tokens[place])) / whole}%`;
      rest[place].hidden = tokens[place] >= section.tokens;
      count.textContent = filled(words.tokens_of, {
        n: tokens[place].toLocaleString("en"),
        total: section.budget.toLocaleString("en"),
      });
    });
    const [so_far, total] = spent < whole ? [words.so_far, whole] : [words.used, data.budget];
    said.textContent = filled(so_far, { n: spent.toLocaleString("en"), total: total.toLocaleString("en") });
    host.hidden = !data.sections.length;
  };
}

// What the signs mean, in the order of the strategy; colour is never the only sign. Returns the entry of what came by the
// climb alone, which is hidden.
function legend(parent, data, words) {
  const host = addHtml("div", "legend", "", parent);
  const add = (title, kind, colour) => {
    const entry = addHtml("span", "", "", host);
    const mark = addHtml("i", `sign ${kind}`, "", entry);
    if (colour) {
      mark.style.setProperty("--c", `var(--lr-${colour})`);
      mark.style.setProperty("--f", `var(--lr-${colour}fill,color-mix(in srgb,var(--lr-${colour}) 10%,var(--lr-bg)))`);
    }
    entry.append(title);
  };
  for (const sign of data.signs) add(sign.title, sign.shape, sign.colour);
  if (data.layouts[0].nodes.length) add(words.legend_later, "later", "");
  const changes = new Set(Object.values(data.items).map((item) => item.change));
  if (changes.has("entered") || data.entered.length) add(words.entered, "entered", "entered");
  if (changes.has("left") || data.left.length) add(words.left, "left", "left");
  const climbed = addHtml("span", "", "", host);
  addHtml("b", "climb-sign", CLIMB_SIGN, climbed);
  climbed.append(words.brought);
  climbed.hidden = true;
  return climbed;
}

// Every item with what the trace says of it, for readers who prefer a table.
function playTable(parent, data, words, lit) {
  const host = addHtml("div", "table", "", parent),
    table = addHtml("table", "", "", host);
  host.tabIndex = 0;
  host.setAttribute("role", "region");
  host.setAttribute("aria-label", words.table);
  const row = (kind, cells, mark) => {
    const line = addHtml("tr", mark, "", table);
    for (const cell of cells) addHtml(kind, "", cell === "" ? "–" : String(cell), line).dir = "auto";
  };
  row("th", [words.rank, words.name, words.role, words.layer, words.score, words.parent], "");
  const items = Object.entries(data.items).sort(
    ([, a], [, b]) =>
      Number(Boolean(a.is_card)) - Number(Boolean(b.is_card)) ||
      (b.layer ?? 99) - (a.layer ?? 99) ||
      (a.rank ?? 1e6) - (b.rank ?? 1e6),
  );
  for (const [id, item] of items) {
    const sign = { entered: "+ ", left: "− " }[item.change] ?? "";
    row(
      "td",
      [
        item.mark && item.is_card ? item.mark : (item.rank ?? ""),
        sign + item.name,
        item.role,
        typeof item.layer === "number" ? `L${item.layer}` : "",
        typeof item.score === "number" ? item.score.toFixed(2) : "",
        data.items[item.parent]?.name ?? "",
      ],
      `${item.change ?? ""}${lit.has(id) ? "" : " later"}`,
    );
  }
  const lines = Object.entries(data.lines);
  if (lines.length)
    addHtml("div", "table-lines", "", host).append(
      ...lines.map(([, said]) => {
        const line = addHtml("div", "", said);
        line.dir = "auto";
        return line;
      }),
    );
  return host;
}
