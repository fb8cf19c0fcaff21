// A retrieval as a play in a host element: playRetrieval(host, sent, words, options). Needs svg.js, layers.js and the
// other scripts called play_; sent is play_values(), words is play_words(). It asks nothing of a server.
//
// options: start: "climb" (the end of that step), "climb.1" (its first frame), "" (the end of the play). table: whether
// it begins as a table. picked: id of the node whose card is open. large: for a wall, with larger type. changed(now):
// after each change, with {name, playing, table, picked}. explore(id), read(id): what a node or a passage opens
// elsewhere, without them there is no button for it; save(svg): saves the picture; explorable: a set of the nodes for which that is possible.
// Returns {mark(name, alone), seek(frame), go(name), play(), pause(), next(), back(), table(on), stop(), place(), now(), answered(frame)}.
const SECONDS_A_FRAME = 2.2;

function frameNamed(data, name) {
  const [, step, number] = /^(.*?)(?:\.(\d+))?$/.exec(name || "");
  const segment = data.segments.find((each) => each.name === name) ?? data.segments.find((each) => each.name === step);
  if (!segment) return data.frames.length - 1;
  return number && segment.name !== name ? Math.min(segment.last, segment.first + Number(number) - 1) : segment.last;
}

function nameOfFrame(data, place) {
  const segment = data.segments[data.frames[place].step];
  if (place === data.frames.length - 1) return "";
  return place === segment.last ? segment.name : `${segment.name}.${place - segment.first + 1}`;
}

function playRetrieval(host, sent, words, options = {}) {
  const data = unpackPlay(sent);
  let place = frameNamed(data, options.start),
    playing = false,
    times = 1,
    timer = 0,
    drawn = null,
    width = 0, // of the host when it was drawn
    note = null,
    held = "",
    brought = new Set(),
    table = Boolean(options.table);
  host.replaceChildren();
  host.classList.add("lr-play", "lr-layers");
  host.classList.toggle("large", Boolean(options.large));
  const changes = Object.values(data.items).some((item) => item.change) || data.entered.length + data.left.length > 0;
  host.classList.toggle("marked", changes);
  const show = playBar(host, data, words, {
    back: () => seek(place - 1),
    next: () => seek(place + 1),
    seek: (to) => seek(to),
    toggle: () => (playing ? pause() : play()),
    speed: (value) => {
      times = value;
      if (playing) wait();
    },
  });
  const caption = addHtml("div", "caption", "", host);
  caption.setAttribute("aria-live", "polite");
  const stage = addHtml("div", "stage", "", host),
    figure = addHtml("div", "figure lr-graph", "", stage),
    notes = addHtml("div", "notes", "", stage);
  const tableHost = addHtml("div", "", "", host);
  const climbed = legend(host, data, words);
  const foot = addHtml("div", "foot", "", host),
    said = addHtml("span", "", "", foot),
    swap = addHtml("button", "", "", foot);
  swap.type = "button";
  if (options.save) {
    const save = addHtml("button", "save", "PNG", foot);
    save.type = "button";
    save.onclick = () => {
      const svg = figure.querySelector("svg");
      if (svg && !table) options.save(svg);
    };
  }
  swap.onclick = () => {
    table = !table;
    redraw();
    tell();
  };
  const mapped = playMap(host, data, words, options.explore);
  const fill = tokenBar(host, data, words);
  const calm = matchMedia("(prefers-reduced-motion: reduce)");
  const close = () => {
    const id = note?.id;
    note = null;
    write();
    tell();
    focusOn(id);
  };
  const open = (kind, id) => {
    const members =
      (
        drawn.graph.nodes.find((node) => node.id === id) ??
        data.cards.flatMap((band) => band.cards).find((card) => card.id === id && card.more)
      )?.members ?? [];
    note = note?.id === id ? null : noteOf(data, words, kind, id, members);
    write();
    tell();
    if (note && !stage.classList.contains("beside")) notes.querySelector(".close")?.focus();
  };

  const now = () => ({ name: nameOfFrame(data, place), playing, table, picked: note?.id ?? "" });
  function tell() {
    options.changed?.(now());
  }

  function focusOn(id) {
    const nodes = [...figure.querySelectorAll('.node[role="button"]')];
    const node = nodes.find((each) => each.dataset.id === id);
    if (!node) return;
    nodes.forEach((each) => each.setAttribute("tabindex", "-1"));
    node.setAttribute("tabindex", "0");
    node.focus();
  }

  // Beside the figure where there is room and the nodes are in trays, else over its emptier half.
  function write() {
    const chosen = note && figure.querySelector(`.node[data-id="${CSS.escape(note.id)}"]`);
    figure.querySelectorAll(".picked").forEach((node) => node.classList.remove("picked"));
    chosen?.classList.add("picked");
    const beside = stage.classList.contains("beside");
    if (chosen && !beside) {
      const box = chosen.getBoundingClientRect(),
        all = stage.getBoundingClientRect();
      notes.dataset.side = box.x + box.width / 2 > all.x + all.width / 2 ? "left" : "right";
    }
    const all = {
      title: words.ranking,
      rows: rowsOf(
        data,
        Object.keys(data.items).filter((id) => !data.items[id].is_card && data.items[id].rank),
      ),
    };
    showNote(notes, data, words, note ?? (beside || (width < 520 && all.rows.length) ? all : null), {
      close,
      explore: !options.explorable || options.explorable.has(note?.explore) ? options.explore : null,
      read: options.read,
    });
  }

  function draw() {
    width = host.clientWidth;
    const layout = layoutFor(data, width - 92),
      { trays } = data.layouts[layout];
    said.textContent = data.notes[layout];
    said.hidden = !said.textContent;
    swap.textContent = table ? words.as_figure : words.as_table;
    stage.classList.toggle("beside", trays && width >= 820);
    stage.hidden = table || !(data.layouts[0].nodes.length || data.cards[0].cards.length);
    if (!stage.hidden) {
      drawn = drawPlay(figure, data, words, open);
      figure.querySelector('.node[role="button"]')?.setAttribute("tabindex", "0");
      for (const card of figure.querySelectorAll("[data-card]")) {
        card.onpointerenter = () => card.classList.contains("later") || light(place, false, card.dataset.card);
        card.onpointerleave = () => light(place, false);
      }
      write();
    } else drawn = null;
  }

  function redraw() {
    draw();
    light(place, false);
    show(place, playing);
  }

  function light(at, moves, hovered) {
    // What is held is shown whole, also where the play has not come to it yet.
    const known = stateAt(data, at),
      isLit = known.lit.has(held) || known.relations.has(held);
    const state = { ...(held && !isLit ? stateAt(data, data.frames.length - 1) : known), held, brought };
    if (hovered) state.focus = new Set([hovered]);
    if (drawn) lightPlay(drawn, data, state, moves && !calm.matches);
    mapped(state.lit);
    tableHost.replaceChildren();
    if (table) playTable(tableHost, data, words, state.lit);
  }

  function seek(to, moves = true) {
    if (to < 0 || to >= data.frames.length) {
      pause();
      return;
    }
    const forward = to > place;
    place = to;
    const frame = data.frames[place];
    caption.replaceChildren();
    addHtml(frame.rest ? "b" : "span", "", frame.lead, caption);
    caption.append(frame.rest);
    caption.dir = "auto";
    light(place, moves && forward);
    fill(frame.tokens);
    if (place === data.frames.length - 1) playing = false;
    show(place, playing);
    if (playing) wait();
    tell();
  }

  function wait() {
    clearTimeout(timer);
    timer = setTimeout(() => playing && host.isConnected && seek(place + 1), (1000 * SECONDS_A_FRAME) / times);
  }
  function play() {
    playing = true;
    if (place === data.frames.length - 1) seek(0);
    else {
      show(place, true);
      wait();
    }
  }
  function pause() {
    playing = false;
    clearTimeout(timer);
    show(place, false);
    tell();
  }

  stage.onkeydown = (event) => {
    if (event.key === "Escape" && note) {
      event.stopPropagation();
      close();
    } else walkNodes(figure, event);
  };
  draw();
  const asked = options.picked && figure.querySelector(`.node[data-id="${CSS.escape(options.picked)}"]`);
  if (asked) {
    const kind = asked.dataset.card ? "card" : "node";
    note = noteOf(data, words, kind, options.picked, []);
    write();
  }
  seek(place, false);
  const watcher = new ResizeObserver(() => {
    if (Math.abs(host.clientWidth - width) >= 6) redraw();
  });
  watcher.observe(host);
  return {
    seek,
    play,
    pause,
    place: () => place,
    next: () => seek(place + 1),
    back: () => seek(place - 1),
    go: (name) => {
      pause();
      seek(frameNamed(data, name));
    },
    // What the last frame says, once there is an answer.
    answered: ({ lead, rest, focus }) => {
      const last = data.frames.length - 1,
        { lead: before, rest: after, focus: lit } = data.frames[last];
      if (lead === before && rest === after && JSON.stringify(focus) === JSON.stringify(lit)) return;
      Object.assign(data.frames[last], { lead, rest, focus });
      if (place === last) seek(last, false);
    },
    // Holds the item or relation of that mark, nothing where it is empty; all of `alone` came by the climb alone.
    mark: (name, alone) => {
      const idOf = new Map(Object.entries(data.marks).map(([id, mark]) => [mark, id]));
      for (const [id, item] of Object.entries(data.items)) if (item.mark) idOf.set(item.mark, id);
      const [before, next] = [
        [held, ...brought].join(),
        [idOf.get(name) ?? "", ...alone.map((each) => idOf.get(each))],
      ];
      held = next[0];
      brought = new Set(next.slice(1));
      climbed.hidden = !brought.size;
      if (next.join() !== before) light(place, false);
    },
    now,
    foot,
    table: (on) => {
      if (on !== table) swap.click();
    },
    stop: () => {
      playing = false;
      clearTimeout(timer);
      watcher.disconnect();
    },
  };
}
