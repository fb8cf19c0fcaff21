// The shell of a site: views, search, inspector. What is chosen is in the part of the address behind #.
const SITE_LIT = 24,
  SITE_FIRST = 8, // matches that are listed
  SITE_HIDDEN = { hidden: "" },
  SITE_FRAMES = {
    hierarchy: ["lr-blocks"],
    graph: [
      "lr-lg lr-layers",
      {},
      ["lr-lg-bar"],
      ["lr-lg-matches", SITE_HIDDEN],
      ["lr-lg-figure"],
      ["lr-lg-chosen", { role: "toolbar", ...SITE_HIDDEN }],
      ["lr-lg-legend"],
      ["lr-lg-list", SITE_HIDDEN],
    ],
    schema: [
      "lr-schema lr-layers",
      {},
      ["lr-schema-left", {}, ["lr-schema-figure"], ["lr-schema-legend"]],
      ["lr-schema-table"],
    ],
    map: ["lr-map"],
    islands: [
      "lr-islands",
      {},
      ["figure"],
      ["base"],
      ["legend"],
      ["reason", { role: "status", ...SITE_HIDDEN }],
      ["table"],
    ],
    clusters: ["lr-board", {}, ["figure"], ["rows", { role: "region", tabindex: "0" }]],
    questions: ["lrs-questions"],
  };

// The elements that a component finds: a class, attributes, and what is inside.
/** @param {any[]} frame */
function siteFrame(frame) {
  const [className, attributes = {}, ...inside] = frame;
  const made = makeElement("div", className);
  setAttributes(made, attributes);
  made.append(...inside.map(siteFrame));
  return made;
}

class Site {
  constructor(root, values) {
    this.values = values;
    this.store = new SiteStore(values);
    this.names = Object.keys(SITE_FRAMES).filter((name) => name in values.views);
    const say = siteSay(values.templates, values.language);
    this.say = Object.assign(say, { knows: (code) => code in values.templates });
    this.inspector = new SiteInspector(this.store, this.say);
    this.dark = matchMedia("(prefers-color-scheme: dark)");
    this.root = root;
    this.turn = 0;
    this.build();
    addEventListener("hashchange", () => this.show());
    this.dark.onchange = () => this.show(true);
    this.show();
  }

  build() {
    const { root, say, values } = this,
      head = makeElement("header", "lrs-head", root);
    makeText("h1", "", head, values.name);
    makeText("p", "muted", head, values.facts);
    const bar = makeElement("div", "lrs-bar", root);
    this.tabs = makeElement("nav", "lrs-tabs", bar);
    this.tabs.setAttribute("aria-label", say("explore.view"));
    for (const name of this.names) {
      const title = name === "questions" ? say("site.questions") : say(`explore.view.${name}`);
      makeButton("lrs-tab", this.tabs, title, () => this.go({ view: name, layer: "" })).dataset.view = name;
    }
    this.field = makeElement("div", "lrs-find", bar);
    makeElement("div", "lr-search", this.field);
    this.main = makeElement("main", "lrs-main", root);
    const left = makeElement("section", "lrs-left", this.main);
    this.layers = makeElement("div", "lrs-layers", left);
    this.finding = makeElement("p", "lrs-finding", left);
    this.figure = makeElement("div", "lrs-view", left);
    this.aside = makeElement("aside", "lrs-aside", this.main);
    makeElement("div", "lr-inspected", this.aside);
    this.alert = makeElement("p", "lrs-alert", left);
    this.alert.setAttribute("role", "alert");
    makeText("footer", "muted", root, values.note);
  }

  /** @returns {Record<string, string>} */
  state() {
    const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
    const view = this.names.includes(given.view) ? given.view : this.names[0];
    return { detail: "around", ...given, view };
  }

  // Changes what is chosen; an empty value is as if nothing was.
  go(changes) {
    const all = { ...this.state(), ...changes };
    location.hash = new URLSearchParams(
      Object.entries(all).filter(([, value]) => value !== "" && value !== undefined),
    ).toString();
  }

  choose(id) {
    this.go({ node: id, rel: "", chunk: "", types: "", more: "" });
  }

  async show(again = false) {
    const turn = (this.turn += 1),
      state = this.state(),
      isLast = () => this.turn === turn;
    for (const button of this.tabs.children)
      button.setAttribute("aria-current", String(/** @type {HTMLElement} */ (button).dataset.view === state.view));
    this.main.className = `lrs-main ${state.view}`;
    try {
      // The upper layers are small and give the first picture; the base follows for search and names.
      const needed = this.lowest(state);
      await Promise.all([this.store.open(needed), document.fonts.load(`16px ${FONT}`)]); // names are measured
      if (!isLast()) return;
      await this.draw(state, isLast, again);
      if (!isLast()) return;
      performance.mark("drawn");
      this.root.dataset.drawn = state.view;
      await this.store.open(0);
      if (!isLast()) return;
      this.search(state);
      await this.inspect(state, isLast);
      if (isLast()) this.root.dataset.ready = String(turn);
      this.alert.textContent = "";
    } catch (error) {
      if (!error.isMissing) throw error;
      this.alert.textContent = this.say("site.not_loaded", { name: error.message });
    }
  }

  /** @param {Record<string, string>} state */
  lowest({ view, focus, find }) {
    if (view !== "hierarchy" || find) return 0;
    return focus ? 0 : Math.max(0, this.store.top - SITE_COLUMNS + 1);
  }

  mount(view, data, heard) {
    if (this.mounted !== view) {
      this.leave?.();
      this.figure.replaceChildren(siteFrame(SITE_FRAMES[view]));
      this.mounted = view;
    }
    this.leave = SITE_COMPONENTS[view]({
      data,
      parentElement: this.figure,
      setTriggerValue: (name, value) => heard[name]?.(value),
    });
  }

  tools(title, note, keys = "") {
    const { say } = this;
    return {
      title,
      note,
      keys,
      words: { table: say("figure.as_table"), png: say("figure.as_png"), html: say("figure.as_html") },
    };
  }

  async draw(state, isLast, again) {
    const { say, values } = this,
      layers = values.views[state.view],
      layer = layers.includes(Number(state.layer)) && state.layer !== "" ? Number(state.layer) : layers[0];
    if (again) this.mounted = "";
    if (this.mounted !== state.view) this.finding.textContent = "";
    this.layers.replaceChildren();
    if (layers.length > 1)
      for (const number of layers) {
        const button = makeButton("lrs-tab", this.layers, `L${number}`, () => this.go({ layer: String(number) }));
        button.setAttribute("aria-pressed", String(number === layer));
      }
    if (layers.length > 1)
      this.layers.prepend(state.view === "map" ? say("explore.map.points") : say("explore.clusters.that_make"));
    await this[state.view](state, layer, isLast);
  }

  async hierarchy(state) {
    const { say, store, values } = this,
      focus = store.place(state.focus),
      skip = Number(state.skip) || 0,
      find = state.find ?? "",
      picture = `${focus} ${skip} ${find}`;
    globalThis.lrPicked = state.node || focus.join(".");
    // A picture that stays is not drawn again: a click whose press and release fall before and after it would be lost.
    if (this.mounted === "hierarchy" && this.picture === picture) {
      document.dispatchEvent(new CustomEvent("lr-picked", { detail: globalThis.lrPicked }));
      return;
    }
    this.picture = picture;
    const lit = new Set(find ? store.find(find, SITE_LIT).places.map((place) => place.join(".")) : []),
      drawn = siteIcicle(store, focus, { say, skip, lit }),
      trail = [...store.ancestors(...focus), focus];
    this.mount(
      "hierarchy",
      {
        ...drawn,
        shape: "icicle",
        height: SITE_HEIGHT,
        language: values.language,
        label: say("explore.blocks_label", { shape: say("explore.shape.icicle"), n: drawn.blocks.length }),
        focus: focus.join("."),
        find,
        crumbs: trail.map((place) => ({ layer: place[0], id: place.join("."), name: store.name(place) })),
        measure: {
          name: "layer",
          title: say("explore.by.layer"),
          steps: drawn.columns.map(({ layer }) => ({ paint: `l${Math.min(4, layer)}`, text: `L${layer}` })),
        },
        words: values.blockWords,
        tools: {
          ...this.tools(values.name, "", say("explore.keys")),
          words: { ...this.tools("", "").words, table: say("site.list") },
        },
      },
      {
        picked: (id) => this.choose(id),
        opened: (id) => {
          const shown = drawn.blocks.filter((block) => block.parent === focus.join(".") && !block.folded).length,
            next = id.startsWith("more:") ? siteUnfold(store, focus, id, { skip, shown }) : { focus: id, skip: 0 };
          this.go({
            ...next,
            skip: next.skip ? String(next.skip) : "",
            ...(id.startsWith("more:") ? {} : { node: id, rel: "", chunk: "", types: "" }),
          });
        },
        up: () => {
          const above = store.ancestors(...focus).at(-1);
          if (above) this.go({ focus: above.join("."), node: above.join("."), skip: "" });
        },
        table: () => this.choose(focus.join(".")),
      },
    );
  }

  async graph(state, _, isLast) {
    const { say, store, values } = this,
      focus = store.place(state.centre ?? state.node),
      picked = store.place(state.node ?? state.centre),
      scene = state.detail === "all" ? await siteWhole(store, focus, picked) : await siteScene(store, focus, say);
    if (!isLast()) return;
    const { idOf = (id) => id, ...drawn } = scene,
      name = `\u2068${store.name(focus)}\u2069`,
      total = values.sizes.reduce((sum, size) => sum + size, 0),
      search = state.find ?? "";
    this.mount(
      "graph",
      {
        picked: picked.join("."),
        focus_id: focus.join("."),
        ...drawn,
        hops: 1,
        detail: state.detail,
        hidden: [],
        pins: 0,
        search: search.toLocaleLowerCase(),
        matches: store
          .find(search, SITE_FIRST)
          .places.map((place) => ({ id: place.join("."), layer: place[0], name: store.name(place) })),
        hues: values.hues[this.dark.matches ? "dark" : "light"].clouds,
        label: say("site.graph_label", { name }),
        words: values.graphWords,
        legend: values.legends[state.detail === "all" ? "all" : "around"],
        tools: this.tools(
          say("explore.graph.title", { name }),
          say("explore.graph.note", { total }),
          say("site.graph_keys"),
        ),
      },
      {
        act: ({ kind, id }) => {
          if (kind === "pick") this.choose(idOf(id));
          else if (kind === "centre" || kind === "open")
            this.go({ centre: idOf(id), node: idOf(id), rel: "", chunk: "", types: "" });
          else if (kind === "detail") this.go({ detail: id });
        },
      },
    );
  }

  async schema(state, _, isLast) {
    const shard = await this.store.load("schema-0"),
      chosen = (state.types ?? "").split("|").filter(Boolean).map(Number);
    if (!isLast()) return;
    const at = (names) => names.map((name) => shard.types.findIndex((type) => type.name === name)).sort();
    this.mount(
      "schema",
      {
        ...shard,
        chosen: chosen.map((place) => shard.types[place]?.name),
        chosen_kinds: [],
        tools: this.tools(this.say("explore.view.schema"), this.say("site.schema_note")),
      },
      {
        picked: (names) =>
          this.go({ types: at(names).join("|") === state.types ? "" : at(names).join("|"), rel: "", chunk: "" }),
      },
    );
  }

  async map(state, layer, isLast) {
    const shard = await this.store.load(`map-${layer}`);
    if (!isLast()) return;
    const { say } = this,
      id = (at) => `${layer}.${shard.rows[at]}`,
      point = (at) => ({ id: id(at), name: shard.names[at], at: [shard.x[at], shard.y[at]] }),
      places = state.find ? this.store.find(state.find, SITE_LIT).places : [],
      lit = new Set(places.map((place) => place.join("."))),
      numbers = shard.rows.map((_, at) => at);
    this.mount(
      "map",
      {
        ...shard,
        colour:
          Number(state.colour) > layer && Number(state.colour) <= this.store.top ? Number(state.colour) : shard.colour,
        hues: this.values.hues[this.dark.matches ? "dark" : "light"].clusters,
        passing: null,
        matches: numbers.filter((at) => lit.has(id(at))).map(point),
        chosen: numbers.filter((at) => id(at) === state.node).map(point)[0] ?? null,
        question: null,
        panel: false,
        asked: false,
        tools: this.tools(say("explore.map.title", { name: this.values.name }), shard.note, say("explore.map.keys")),
      },
      {
        acted: (text) => {
          const { do: what, value } = JSON.parse(text);
          if (what === "point") this.choose(id(Number(value)));
          else if (what === "go") this.choose(value);
          else if (what === "colour") this.go({ colour: value });
        },
      },
    );
  }

  async islands(state, _, isLast) {
    const shard = await this.store.load("islands-0");
    if (!isLast()) return;
    this.finding.textContent = shard.finding.join(" ");
    const tools = this.tools(this.say("explore.view.islands"), shard.note, this.say("explore.islands.same_places"));
    this.mount("islands", { ...shard, tools }, { opened: (id) => this.choose(id) });
  }

  async clusters(state, layer, isLast) {
    const shard = await this.store.load(`clusters-${layer}`);
    if (!isLast()) return;
    this.finding.textContent = shard.finding.join(" ");
    const [column, rising] = (state.sort ?? "cohesion true").split(" "),
      sort = /** @type {[string, boolean]} */ (
        column in shard.words.columns ? [column, rising === "true"] : ["cohesion", true]
      ),
      rows = SITE_COMPONENTS.sorted(shard.rows, sort).slice(0, shard.most);
    this.mount(
      "clusters",
      {
        ...shard,
        rows,
        sort,
        of: `${layer} ${sort}`,
        complete: false,
        picked: state.node ?? "",
        tools: this.tools(this.say("explore.view.clusters"), shard.note, this.say("explore.clusters.keys")),
      },
      { picked: (id) => this.choose(id), sorted: (order) => this.go({ sort: order }) },
    );
  }

  async questions(state, _, isLast) {
    if (this.mounted !== "questions") {
      this.leave?.();
      this.leave = undefined;
      this.figure.replaceChildren(siteFrame(SITE_FRAMES.questions));
      this.mounted = "questions";
      this.asked = "";
    }
    const shown = { question: Number(state.q) || 0, side: Number(state.side) || 0 };
    if (this.asked === `${shown.question} ${shown.side}`) return; // the play stays where it is
    await siteQuestions(this.figure.firstElementChild, this.store, {
      shown,
      choose: ({ question, side }) => this.go({ q: String(question), side: String(side) }),
      say: this.say,
      chunk: (row) => this.go({ chunk: String(row), rel: "", types: "" }),
      turn: isLast,
    });
    if (isLast()) this.asked = `${shown.question} ${shown.side}`;
  }

  search(state) {
    const { say, store, values } = this,
      find = state.find ?? "",
      { places, total } = store.find(find, SITE_LIT),
      all = values.sizes.reduce((sum, size) => sum + size, 0);
    const foot = !total
      ? say("explore.no_name", { wanted: find })
      : places.length < total
        ? say("explore.search.first_lit", { shown: places.length, total })
        : say("explore.search.lit", { n: places.length, total: all });
    SITE_COMPONENTS.search({
      data: {
        find,
        matches: places
          .slice(0, SITE_FIRST)
          .map((place) => ({
            id: place.join("."),
            layer: place[0],
            name: store.name(place),
            side: place[0]
              ? say("explore.block.entities", { n: store.layers[place[0]].below[place[1]] })
              : store.type(place),
          })),
        total: find ? total.toLocaleString() : "",
        foot: find ? foot : "",
        language: values.language,
        words: {
          label: say("explore.find"),
          placeholder: say("explore.find_entity"),
          clear: say("explore.search.clear"),
          keys: say("explore.search.keys"),
        },
      },
      parentElement: this.field,
      setTriggerValue: (name, value) => {
        if (name === "typed") this.go({ find: value.slice(1) });
        else if (state.view === "hierarchy")
          this.go({ node: value, focus: this.shownIn(value), skip: "", rel: "", chunk: "", types: "" });
        else if (state.view === "graph") this.go({ node: value, centre: value, rel: "", chunk: "", types: "" });
        else this.choose(value);
      },
    });
  }

  // The block whose picture shows that entity: the parent of its parent, or what is below the root.
  shownIn(id) {
    const [layer, row] = this.store.place(id);
    return (this.store.ancestors(layer, row).at(-1) ?? [layer, row]).join(".");
  }

  async inspect(state, isLast) {
    const { inspector, store } = this,
      place = store.place(state.node ?? state.focus),
      more = Number(state.more) || SITE_FIRST_CHUNKS;
    let data;
    if (state.rel) data = await inspector.relation(state.rel);
    else if (state.chunk !== undefined && state.chunk !== "") data = await inspector.chunk(Number(state.chunk));
    else if (state.types)
      data = inspector.types(
        (await store.load("schema-0")).types
          .filter((_, at) => state.types.split("|").includes(String(at)))
          .map(({ name }) => name),
      );
    else data = await inspector.entity(place, more);
    if (!isLast()) return;
    SITE_COMPONENTS.inspector({
      data,
      parentElement: this.aside,
      setTriggerValue: (_, text) => {
        const { do: what, id } = JSON.parse(text);
        if (what === "go") this.choose(id);
        else if (what === "relation") this.go({ rel: id, chunk: "", types: "" });
        else if (what === "chunk" || what === "document") this.go({ chunk: id, rel: "", types: "" });
        else if (what === "back") this.go({ rel: "", chunk: "", types: "" });
        else if (what === "graph") this.go({ view: "graph", centre: id, node: id, layer: "" });
        else if (what === "blocks")
          this.go({ view: "hierarchy", focus: this.shownIn(id), node: id, skip: "", layer: "" });
        else if (what === "more") this.go({ more: String(more + SITE_FIRST_CHUNKS) });
      },
    });
  }
}
