// What the inspector of a site shows of an entity, a relation, a chunk or a list; pages/explore/inspector.js draws it.
const SITE_EXCERPT = 260,
  SITE_LISTED = 100,
  SITE_FIRST_CHUNKS = 12,
  SITE_STRONGEST = 3;

function siteRow(name, given) {
  return { name, do: "go", id: "", layer: null, sub: "", value: "", bar: null, unfolds: [], ...given };
}

function siteRows(rows, note = "") {
  return { kind: "rows", rows, note, more: "", moreId: "" };
}

function siteTab(key, title, blocks, count) {
  return { key, title, blocks, count: count === undefined ? "" : count.toLocaleString() };
}

// The text in pieces, names marked as whole words; a script without spaces has none to be whole.
function sitePieces(text, names) {
  const spaced = /[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]/,
    escaped = names.filter((name) => name.trim()).sort((a, b) => b.length - a.length);
  if (!escaped.length) return [{ text, marked: false }];
  const pattern = escaped.map((name) => {
    const words = name
      .trim()
      .replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")
      .replace(/\s+/g, "\\s+");
    return spaced.test(name) ? words : `(?<![\\p{L}\\p{N}])${words}(?![\\p{L}\\p{N}])`;
  });
  const pieces = [];
  let from = 0;
  for (const match of text.matchAll(new RegExp(pattern.join("|"), "giu"))) {
    if (match.index > from) pieces.push({ text: text.slice(from, match.index), marked: false });
    pieces.push({ text: match[0], marked: true });
    from = match.index + match[0].length;
  }
  return [...pieces, { text: text.slice(from), marked: false }];
}

// The stretch of a chunk around its first mark.
function siteExcerpt(text, names) {
  const pieces = sitePieces(text, names),
    first = pieces.findIndex((piece) => piece.marked),
    before = first < 0 ? 0 : pieces.slice(0, first).reduce((sum, piece) => sum + piece.text.length, 0),
    start = Math.max(0, before - SITE_EXCERPT / 3),
    end = Math.min(text.length, start + SITE_EXCERPT);
  const part = `${start ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
  return sitePieces(part, names);
}

function siteStrength(layer, strength, say) {
  return say(layer ? "explore.inspect.lambda" : "explore.inspect.weight", { n: strength });
}

class SiteInspector {
  constructor(store, say) {
    this.store = store;
    this.say = say;
    this.words = {
      document: say("explore.inspect.text"),
      tabs: say("explore.inspect.tabs"),
      open: say("explore.inspect.open"),
    };
  }

  frame(given) {
    return {
      parents: [],
      actions: [],
      made: { title: "", said: "", lines: [], link: "", id: "" },
      words: this.words,
      ...given,
    };
  }

  above([layer, row]) {
    return this.store
      .ancestors(layer, row)
      .map((place) => ({ layer: place[0], id: place.join("."), name: this.store.name(place) }));
  }

  note(shown, total, order) {
    return shown < total ? this.say(`explore.inspect.first.${order}`, { shown, rest: total - shown }) : "";
  }

  listed(places) {
    return places.map((place) => {
      const [layer, row] = place,
        sub = layer
          ? this.say("explore.block.entities", { n: this.store.layers[layer].below[row] })
          : this.store.type(place);
      return siteRow(this.store.name(place), { id: place.join("."), layer, sub });
    });
  }

  async entity(place, nChunks) {
    const { store, say } = this,
      [layer, row] = place,
      about = await store.about(layer, row),
      total = store.layers[layer].degrees[row],
      muted = (code) => ({ kind: "text", text: say(code), muted: true }),
      most = Math.max(1, ...about.relations.map((relation) => relation.strength));
    const related = about.relations.map((relation, at) =>
      siteRow(store.name(relation.place), {
        do: "relation",
        id: `${place.join(".")}.${at}`,
        sub: relation.said || siteKind(relation.kind, say),
        value: String(relation.strength),
        bar: relation.strength / most,
      }),
    );
    const strongest = related.slice(0, SITE_STRONGEST);
    /** @type {Record<string, any>[]} */
    const summary = [about.text ? { kind: "text", text: about.text } : muted("explore.inspect.no_description")];
    if (strongest.length)
      summary.push({ kind: "label", text: say("explore.inspect.strongest"), note: "" }, siteRows(strongest));
    if (about.findings.length) summary.push({ kind: "label", text: say("explore.inspect.findings"), note: "" });
    for (const [said, text] of about.findings) summary.push({ kind: "finding", summary: said, text });
    const tabs = [siteTab("summary", say("explore.inspect.summary"), summary)];
    if (layer) {
      const children = store.children(layer, row),
        order = layer > 1 ? "largest" : "linked",
        shown = children.slice(0, SITE_LISTED).map((child) => [layer - 1, child]);
      const block = siteRows(this.listed(shown), this.note(shown.length, children.length, order));
      tabs.push(siteTab("children", say("explore.inspect.children"), [block], children.length));
    }
    const relations = siteRows(related, this.note(related.length, total, "strongest"));
    tabs.push(
      siteTab(
        "relations",
        say("explore.inspect.relations"),
        [related.length ? relations : muted("explore.inspect.no_relation")],
        total,
      ),
    );
    tabs.push(
      siteTab(
        "chunks",
        say("explore.inspect.chunks"),
        await this.passages(about, layer ? [] : [store.name(place), ...about.forms], nChunks),
        about.nChunks,
      ),
    );
    const kind = say(layer ? "explore.inspect.aggregated_entity" : "explore.inspect.entity");
    return this.frame({
      id: place.join("."),
      name: store.name(place),
      parents: this.above(place),
      actions: [
        { do: "graph", id: place.join("."), title: say("explore.inspect.graph"), icon: "" },
        { do: "blocks", id: place.join("."), title: say("site.in_hierarchy"), icon: "" },
      ],
      tabs,
      made: { title: `L${layer} ${kind}`, said: store.type(place), lines: [], link: "", id: "" },
    });
  }

  async passages(about, names, most) {
    if (!about.nChunks) return [{ kind: "text", text: this.say("explore.inspect.no_chunk"), muted: true }];
    const shown = about.chunks.slice(0, most);
    const blocks = await Promise.all(
      shown.map(async (row) => {
        const { title, text } = await this.store.chunk(row);
        return {
          kind: "passage",
          title,
          sub: this.say("passage.chunk", { n: row + 1 }),
          pieces: siteExcerpt(text, names),
          id: String(row),
          row,
        };
      }),
    );
    const left = about.chunks.length - shown.length;
    if (left > 0) {
      const more = this.say("explore.inspect.more", {
        n: Math.min(SITE_FIRST_CHUNKS, left),
        rest: about.nChunks - shown.length,
      });
      blocks.push({ ...siteRows([]), more, moreId: "chunks" });
    }
    return blocks;
  }

  async relation(id) {
    const { store, say } = this,
      [layer, row, at] = id.split(".").map(Number),
      { relations } = await store.about(layer, row),
      relation = relations[at],
      ends = [[layer, row], relation.place].map((place) => ({ id: place.join("."), name: store.name(place) })),
      how = [siteKind(relation.kind, say), siteStrength(layer, relation.strength, say)]
        .filter(Boolean)
        .join(say("ask.comma"));
    const text = relation.said ? [{ kind: "text", text: relation.said }] : [];
    return this.frame({
      id,
      name: "",
      ends,
      actions: [{ do: "back", id: "", title: say("explore.inspect.back"), icon: "" }],
      tabs: [siteTab("summary", say("explore.inspect.summary"), [...text, { kind: "text", text: how, muted: true }])],
      made: {
        title: `L${layer}`,
        said: say(layer ? "explore.inspect.aggregated_relation" : "explore.inspect.base_relation"),
        lines: [],
        link: "",
        id: "",
      },
    });
  }

  async chunk(row) {
    const { store, say } = this,
      { title, text, mentions, n } = await store.chunk(row),
      places = mentions.map((entity) => [0, entity]),
      chunks = store.values.chunks;
    const said = siteRows(this.listed(places), this.note(places.length, n, "linked")),
      nothing = { kind: "text", text: say("explore.inspect.nothing_extracted"), muted: true };
    const step = (to, title) => (to >= 0 && to < chunks ? [{ do: "chunk", id: String(to), title, icon: "" }] : []);
    return this.frame({
      id: `chunk ${row}`,
      name: title,
      actions: [
        { do: "back", id: "", title: say("explore.inspect.back"), icon: "" },
        ...step(row - 1, say("site.chunk_before")),
        ...step(row + 1, say("site.chunk_after")),
      ],
      tabs: [
        siteTab("summary", say("explore.inspect.text"), [
          { kind: "text", text: say("passage.chunk_of", { n: row + 1, chunks }), muted: true },
          {
            kind: "passage",
            title: "",
            pieces: sitePieces(
              text,
              places.map((place) => store.name(place)),
            ),
          },
        ]),
        siteTab("entities", say("explore.inspect.mentions"), [places.length ? said : nothing], n),
      ],
      made: { title: say("explore.inspect.chunk"), said: "", lines: [], link: "", id: "" },
    });
  }

  // The entities of some types, those with most relations first.
  types(names) {
    const { typeNames, types, degrees } = this.store.layers[0],
      wanted = new Set(names.map((name) => typeNames.indexOf(name))),
      rows = types
        .flatMap((type, row) => (wanted.has(type) ? [row] : []))
        .sort((a, b) => degrees[b] - degrees[a] || a - b),
      shown = rows.slice(0, SITE_LISTED).map((row) => [0, row]);
    const block = siteRows(this.listed(shown), this.note(shown.length, rows.length, "linked"));
    return this.frame({
      id: `types ${names.join("|")}`,
      name: names.map((name) => name || this.say("explore.schema.untyped")).join(this.say("ask.comma")),
      actions: [{ do: "back", id: "", title: this.say("explore.inspect.back"), icon: "" }],
      tabs: [siteTab("children", this.say("explore.schema.legend.type"), [block], rows.length)],
    });
  }
}
