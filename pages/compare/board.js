// The board: sliders, the chart, the sentence and the questions that were won and lost. What is moved goes to the
// server at once, one event at a time; what comes back is drawn at once, words once the slider rests.
const REST = 150; // milliseconds without a move after which words change
const GESTURE = 600; // milliseconds between two keys of one move

const BOARD_PIN = "M9 4h6M10 4v6l-3 3.5h10L14 10V4M12 13.5V20",
  BOARD_COLUMNS = "M5 5h5.5v14H5zM13.5 5H19v14h-5.5z";

// A button with an icon before its name; where there is little room the icon is seen alone.
function iconAction(parent, className, text, path, run) {
  const made = makeButton(className, parent, "", run),
    icon = make("svg", { width: 20, height: 20, viewBox: "0 0 24 24", "aria-hidden": true }, made);
  made.setAttribute("aria-label", text);
  make("path", { d: path, fill: "none", stroke: "currentColor", "stroke-width": 2, "stroke-linejoin": "round" }, icon);
  makeElement("span", "", made, text);
  return made;
}

// The frame of the board, made once; its parts are filled anew with every answer.
function frameOf(host) {
  host.replaceChildren();
  const part = (name, parent = host) => makeElement("div", name, parent);
  const parts = {
    sentence: part("sentence"),
    settings: part("settings"),
    figure: part("figure"),
    questions: part("questions"),
  };
  parts.sentence.setAttribute("role", "status");
  const head = part("head", parts.figure);
  parts.title = makeElement("span", "title", head);
  parts.tools = makeElement("span", "tools", head);
  parts.plot = part("plot", parts.figure);
  parts.svg = make("svg", { role: "group" }, parts.plot);
  parts.card = part("card", parts.plot);
  parts.card.hidden = true;
  parts.legend = part("legend", parts.figure);
  parts.trail = makeElement("ol", "lr-unseen", parts.figure);
  parts.kinds = part("kinds", parts.figure);
  parts.table = part("table", parts.figure);
  parts.groups = part("groups", parts.settings);
  parts.actions = part("actions", parts.settings);
  parts.failed = part("failed", parts.settings);
  parts.failed.setAttribute("role", "alert");
  return parts;
}

class Board {
  constructor(host) {
    this.host = host;
    this.values = {};
    this.gesture = 0;
    this.seq = 0;
    this.answered = 0;
    this.lastInput = 0;
    this.group = "retrieval";
    this.parts = frameOf(host);
    this.controls = new Map();
    const pressed = (event) =>
      host.isConnected ? this.pressed(event) : document.removeEventListener("keydown", pressed);
    document.addEventListener("keydown", pressed);
    let drawn = this.parts.plot.clientWidth;
    new ResizeObserver(() => {
      if (!this.data || Math.abs(this.parts.plot.clientWidth - drawn) <= 2) return;
      drawn = this.parts.plot.clientWidth;
      this.disc = null;
      this.drawChart();
    }).observe(this.parts.plot);
  }

  // What the server says: kept, drawn, and the words of it when nothing is moved any more.
  take(data, trigger) {
    const first = !this.data || this.data.index !== data.index;
    this.trigger = trigger;
    this.data = data;
    if (first) this.seq = this.answered = data.seq;
    this.answered = Math.max(this.answered, data.seq);
    const waits = this.pending;
    if (this.answered >= this.seq && !waits) this.values = valuesOf(data);
    this.making = false;
    if (this.answered >= this.seq && this.sentAt) {
      this.host.dataset.redrawn = (performance.now() - this.sentAt).toFixed(0);
      this.sentAt = 0;
    }
    this.drawControls(first);
    if (!this.moving || first || !this.axes) this.axes = boardAxes(data);
    this.drawChart();
    clearTimeout(this.resting);
    const left = REST - (performance.now() - this.lastInput);
    if (first || left <= 0) this.rest();
    else this.resting = setTimeout(() => this.rest(), left);
    if (waits && this.answered >= this.seq) this.post();
  }

  send(kind, more = {}) {
    this.seq += 1;
    this.sentAt = performance.now();
    this.trigger("event", { kind, seq: this.seq, ...more });
  }

  // One event is under way at a time: a newer one would end the work for the older before it can be drawn.
  post() {
    if (this.answered < this.seq && performance.now() - this.sentAt < 20_000) {
      this.pending = true;
      return;
    }
    this.pending = false;
    this.send("move", { settings: this.values, gesture: this.gesture });
  }

  rest() {
    if (this.moving) return;
    if (!this.pending && this.answered >= this.seq) {
      this.axes = boardAxes(this.data);
      this.drawChart();
    }
    this.drawWords();
  }

  moved(control, place, key) {
    const now = performance.now();
    if (!this.moving && (now - this.lastInput > GESTURE || this.lastKey !== key)) this.gesture += 1;
    this.lastInput = now;
    this.lastKey = key;
    this.values[control.key] = control.stops[place];
    if (control.ofIndex) {
      this.making = true;
      this.drawChart();
    }
    this.post();
  }

  drawControls(first) {
    const { groups } = this.parts,
      data = this.data,
      shape = JSON.stringify(data.groups.map((group) => group.controls.map((each) => [each.key, each.stops])));
    if (first || shape !== this.shape) {
      this.shape = shape;
      const focused = groups.contains(document.activeElement) ? document.activeElement.id : "";
      const open = groups.querySelector("details")?.open;
      groups.replaceChildren();
      this.controls.clear();
      this.pills(groups);
      for (const group of data.groups) this.drawGroup(groups, group);
      if (open) groups.querySelector("details").open = true;
      if (focused) document.getElementById(focused)?.focus();
    }
    for (const group of data.groups) {
      const note = groups.querySelector(`[data-note="${group.name}"]`);
      if (note) note.textContent = group.note;
      for (const control of group.controls) this.controls.get(control.key)?.(control);
    }
  }

  // On a phone one group is seen at a time.
  pills(parent) {
    const line = makeElement("div", "pills", parent);
    line.setAttribute("role", "group");
    for (const group of this.data.groups) {
      const pill = makeButton("pill", line, this.data.words[group.name], () => {
        this.group = group.name;
        const fold = parent.querySelector("details");
        if (fold) fold.open ||= group.name === "more";
        this.showGroup();
      });
      pill.dataset.group = group.name;
    }
    this.showGroup = () => {
      for (const each of this.parts.groups.querySelectorAll("[data-group]")) {
        const on = /** @type {HTMLElement} */ (each).dataset.group === this.group;
        each.classList.toggle("on", on);
        if (each.tagName === "BUTTON") each.setAttribute("aria-pressed", String(on));
      }
    };
    queueMicrotask(() => this.showGroup());
  }

  drawGroup(parent, group) {
    const fold = group.name === "more",
      host = makeElement(fold ? "details" : "section", "group", parent);
    host.dataset.group = group.name;
    const head = makeElement(fold ? "summary" : "div", "grouphead", host);
    makeElement("b", "", head, this.data.words[group.name]);
    makeElement("span", "note", head, group.note).dataset.note = group.name;
    for (const control of group.controls) {
      if (control.kind === "switch") this.drawSwitch(host, control);
      else if (control.kind === "choice") this.drawChoice(host, control);
      else this.drawSlider(host, control);
    }
  }

  drawSlider(parent, control) {
    const row = makeElement("div", "slider", parent),
      line = makeElement("label", "name", row),
      id = `lr-board-${control.key}`;
    line.htmlFor = id;
    makeElement("span", "", line, control.title);
    const shown = makeElement("output", "", line),
      track = makeElement("div", "track", row),
      ring = makeElement("i", "ring", track),
      input = makeElement("input", "", track),
      note = makeElement("div", "note", row);
    Object.assign(input, { type: "range", id, min: "0", max: String(control.stops.length - 1), step: "1" });
    const show = (place, now) => {
      input.style.setProperty("--share", String(place / Math.max(1, now.stops.length - 1)));
      shown.textContent = now.shown[place];
      input.setAttribute("aria-valuetext", now.shown[place]);
    };
    let latest = control;
    const start = () => {
      this.gesture += 1;
      this.moving = true;
      this.lastInput = performance.now();
      this.lastKey = control.key;
    };
    const end = () => {
      if (!this.moving) return;
      this.moving = false;
      this.lastInput = performance.now(); // what comes late is of the same gesture
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.rest(), REST);
    };
    input.onpointerdown = start;
    input.onpointerup = input.onpointercancel = input.onblur = end;
    input.oninput = () => {
      const place = Number(input.value);
      show(place, latest);
      if (!latest.ofIndex || !this.moving) this.moved(latest, place, control.key);
    };
    input.onchange = () => {
      const place = Number(input.value);
      end();
      if (latest.ofIndex && this.values[control.key] !== latest.stops[place]) this.moved(latest, place, control.key);
    };
    input.onkeydown = (event) => {
      const way = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
      if (!way || !event.shiftKey) return;
      event.preventDefault();
      input.value = String(Number(input.value) + 5 * way);
      input.dispatchEvent(new Event("input"));
    };
    this.controls.set(control.key, (now) => {
      latest = now;
      input.disabled = now.off;
      row.classList.toggle("off", now.off);
      const place = now.stops.indexOf(this.values[now.key] ?? now.stops[now.at]);
      if (!this.moving || document.activeElement !== input) input.value = String(place);
      show(Number(input.value), now);
      const same = now.pinnedAt === place;
      ring.style.setProperty("--share", String(now.pinnedAt / Math.max(1, now.stops.length - 1)));
      ring.hidden = same;
      note.textContent = same
        ? this.data.words.as_pinned
        : withValues(this.data.words.pinned_at, { value: now.shown[now.pinnedAt] });
    });
  }

  drawSwitch(parent, control) {
    const made = makeButton("switch", parent, "", () => {
      const on = made.getAttribute("aria-checked") !== "true";
      made.setAttribute("aria-checked", String(on));
      this.moved(control, control.stops.indexOf(on), `${control.key}${performance.now()}`);
    });
    made.id = `lr-board-${control.key}`;
    made.setAttribute("role", "switch");
    makeElement("i", "", made);
    makeElement("span", "", made, control.title);
    this.controls.set(control.key, (now) => {
      made.disabled = now.off;
      made.setAttribute("aria-checked", String(this.values[now.key] ?? now.stops[now.at]));
    });
  }

  drawChoice(parent, control) {
    const row = makeElement("label", "choice", parent);
    makeElement("span", "", row, control.title);
    const select = makeElement("select", "", row);
    select.id = `lr-board-${control.key}`;
    control.shown.forEach((text, place) => (makeElement("option", "", select, text).value = String(place)));
    select.onchange = () => this.moved(control, Number(select.value), `${control.key}${performance.now()}`);
    this.controls.set(
      control.key,
      (now) => (select.value = String(now.stops.indexOf(this.values[now.key] ?? now.stops[now.at]))),
    );
  }

  drawChart() {
    const { plot, svg, card } = this.parts,
      data = this.data,
      phone = plot.clientWidth < 440,
      focused = focusedIn(svg).place;
    const width = Math.max(280, plot.clientWidth || 556);
    svg.setAttribute("width", width);
    svg.setAttribute("height", phone ? 340 : 430);
    svg.setAttribute("aria-label", data.title);
    if (!this.moving) card.hidden = true;
    const drawn = drawBoard(svg, data, this.axes, {
      making: this.making,
      from: this.disc,
      onTrail: (mark, point, place, spot) => this.trailPoint(mark, point, place, spot),
    });
    this.disc = drawn.now;
    this.host.dataset.making = String(Boolean(this.making));
    if (focused) svg.querySelector(`[data-place="${focused}"]`)?.focus();
    if (this.making && drawn.now)
      boardLabel(svg, drawn.now[0] + 16, drawn.now[1] + 4, data.words.making, { fill: "var(--lr-text)" });
  }

  trailPoint(mark, point, place, [x, y]) {
    const go = () => this.send("go", { place });
    mark.onpointerenter = mark.onfocus = () => this.showCard(point, place, x, y, go);
    mark.onclick = () => this.showCard(point, place, x, y, go);
    mark.onkeydown = (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        go();
      } else if (event.key === "Escape") this.parts.card.hidden = true;
    };
  }

  showCard(point, place, x, y, go) {
    const { card, plot } = this.parts,
      data = this.data,
      words = data.words;
    card.replaceChildren();
    const head = makeElement("div", "cardhead", card);
    makeElement("b", "", head, point.name);
    makeElement(
      "span",
      "",
      head,
      data.trail.length - place === 1 ? words.one_ago : withValues(words.moves_ago, { n: data.trail.length - place }),
    );
    const facts = makeElement("dl", "", card);
    for (const [title, value] of [
      [data.measure, point.value],
      [words.context_tokens, point.tokens],
      [words.against, point.against],
    ]) {
      makeElement("dt", "", facts, title);
      makeElement("dd", "", facts, value);
    }
    makeButton("plain", card, words.go_back, () => {
      card.hidden = true;
      go();
    });
    card.hidden = false;
    const left = Math.max(4, Math.min(plot.clientWidth - 280, x - 138)),
      below = y + 150 < plot.clientHeight;
    card.style.left = `${left}px`;
    card.style.top = below ? `${y + 16}px` : `${Math.max(4, y - card.offsetHeight - 16)}px`;
    card.onpointerleave = () => (card.hidden = true);
  }

  drawWords() {
    const { sentence, title, tools, failed } = this.parts,
      data = this.data,
      words = data.words;
    sentence.replaceChildren(data.sentence.before ? `${data.sentence.before} ` : "");
    if (data.sentence.claim) makeElement("b", "", sentence, data.sentence.claim);
    this.drawRest(sentence);
    title.textContent = data.title;
    tools.replaceChildren();
    const back = makeButton("plain", tools, words.back_one, () => this.back());
    const clear = makeButton("plain", tools, words.clear_trail, () => this.send("clear"));
    back.disabled = clear.disabled = !data.trail.length;
    if (data.share)
      makeButton("plain", tools, data.near ? words.axis_near : words.axis_whole, () => this.send("scale"));
    failed.textContent = data.failed;
    failed.hidden = !data.failed;
    this.drawActions();
    this.drawLegend();
    this.drawTrailList();
    this.drawKinds();
    this.drawQuestions();
    figureTools(this.parts.figure, {
      ...data.tools,
      picture: () => this.parts.svg,
      asTable: () => {
        this.tableShown = !this.tableShown;
        this.drawTable();
      },
    });
    this.drawTable();
  }

  // The rest of the sentence; on a phone its questions won and lost are a link to them.
  drawRest(sentence) {
    const { after, changes } = this.data.sentence,
      at = changes ? after.indexOf(changes) : -1,
      link = (text) => makeButton("plain tosheet", sentence, text, () => this.openSheet());
    if (after) sentence.append(" ");
    if (at < 0) {
      sentence.append(`${after} `);
      link(withValues(this.data.words.all_of, { n: this.data.nAll }));
      return;
    }
    sentence.append(after.slice(0, at));
    makeElement("span", "inline", sentence, changes);
    link(changes);
    sentence.append(after.slice(at + changes.length));
  }

  // The questions in a sheet of their own, until it is closed.
  openSheet() {
    const { questions } = this.parts,
      { words } = this.data,
      sheet = makeElement("dialog", "sheet", this.host);
    sheet.setAttribute("aria-label", words.sheet);
    makeButton("close", sheet, "✕", () => sheet.close()).setAttribute("aria-label", words.close_sheet);
    sheet.append(questions);
    sheet.onclick = (event) => event.target === sheet && sheet.close();
    sheet.onclose = () => {
      this.host.append(questions);
      sheet.remove();
      /** @type {HTMLElement | null} */ (this.parts.sentence.querySelector(".tosheet"))?.focus();
    };
    this.sheet = sheet;
    sheet.showModal();
  }

  drawActions() {
    const { actions } = this.parts,
      { words, now, isUsed, undo, makesIndex } = this.data,
      held = actions.contains(document.activeElement) ? document.activeElement.className : "";
    actions.replaceChildren();
    makeButton("primary", actions, makesIndex ? words.use_keep : words.use, () => this.send("use"));
    const pin = iconAction(actions, "pin", words.pin, BOARD_PIN, () => this.send("pin"));
    pin.disabled = now.isPinned;
    pin.setAttribute("aria-keyshortcuts", "P");
    const column = iconAction(actions, "column", words.column, BOARD_COLUMNS, () => this.send("column"));
    column.setAttribute("aria-keyshortcuts", "C");
    const note = makeElement("div", "note", actions, isUsed ? words.used : words.keeps);
    note.setAttribute("role", "status");
    if (undo) {
      note.append(" ");
      makeButton("plain undo", note, words.undo, () => this.send("undo"));
    }
    if (held) actions.querySelector(`[class="${held}"]`)?.focus();
  }

  drawLegend() {
    const { legend } = this.parts,
      { words, others, trail } = this.data;
    legend.replaceChildren();
    const item = (name, draw) => {
      const line = makeElement("span", "", legend),
        svg = make("svg", { width: 22, height: 16, "aria-hidden": true });
      draw(svg);
      line.append(svg, words[name]);
    };
    item("now", (svg) => make("circle", { cx: 11, cy: 8, r: 6, fill: "var(--lr-prim)" }, svg));
    if (trail.length)
      item("earlier", (svg) => {
        make("path", { d: "M1 8H21", stroke: "var(--lr-prim)" }, svg);
        make(
          "circle",
          { cx: 11, cy: 8, r: 4, fill: "var(--lr-bg)", stroke: "var(--lr-prim)", "stroke-width": 1.8 },
          svg,
        );
      });
    item("pinned", (svg) => {
      make("circle", { cx: 11, cy: 8, r: 6, fill: "none", stroke: "var(--lr-text)", "stroke-width": 2 }, svg);
      make("circle", { cx: 11, cy: 8, r: 2, fill: "var(--lr-text)" }, svg);
    });
    if (others.some((point) => point.y !== null))
      item("other", (svg) =>
        make("path", { d: "M5 2h12v12H5z", fill: "none", stroke: "var(--lr-mute)", "stroke-width": 1.6 }, svg),
      );
    item("interval", (svg) =>
      make("path", { d: "M11 1v14M7 1h8M7 15h8", stroke: "var(--lr-mute)", "stroke-width": 1.4 }, svg),
    );
  }

  // The trail for those who do not see it.
  drawTrailList() {
    const { trail } = this.parts;
    trail.setAttribute("aria-label", this.data.words.trail);
    trail.replaceChildren();
    for (const point of this.data.trail)
      makeElement("li", "", trail, withColon(point.name, point.text + signs().semicolon + point.against));
  }

  drawKinds() {
    const { kinds } = this.parts,
      { words, share } = this.data,
      rows = this.data.kinds;
    kinds.replaceChildren();
    if (rows.length < 2) return;
    const head = makeElement("div", "grouphead", kinds);
    makeElement("b", "", head, words.kinds);
    makeElement("span", "note", head, words.kinds_key);
    const most = share ? 1 : Math.max(...rows.flatMap((row) => [row.now, row.pinned])) || 1;
    for (const row of rows) {
      const line = makeElement("div", "kind", kinds),
        name = makeElement("span", "", line, `${row.name} `);
      makeElement("small", "", name, String(row.n));
      const bar = makeElement("span", "bar", line);
      bar.style.setProperty("--from", `${(100 * Math.min(row.now, row.pinned)) / most}%`);
      bar.style.setProperty("--to", `${(100 * Math.max(row.now, row.pinned)) / most}%`);
      makeElement("i", "ring", bar).style.setProperty("--at", `${(100 * row.pinned) / most}%`);
      makeElement("i", "disc", bar).style.setProperty("--at", `${(100 * row.now) / most}%`);
      const value = makeElement("span", "value", line);
      makeElement("b", "", value, row.text);
      value.append(` ${row.change}`);
    }
  }

  drawQuestions() {
    const { questions } = this.parts,
      { words, won, lost, nSame, same } = this.data,
      focused = focusedIn(questions).place;
    const shown = same !== null,
      showAll = (wanted) => this.send("all", { shown: wanted });
    questions.replaceChildren();
    const list = (rows, title, sign, empty) => {
      const head = makeElement("div", "grouphead", questions),
        name = makeElement("b", "", head, title);
      makeElement("small", "", name, ` ${rows.length}`);
      if (sign === "won") {
        const all = makeButton("plain all", head, withValues(words.all_of, { n: this.data.nAll }), () =>
          showAll(!shown),
        );
        all.setAttribute("aria-pressed", String(Boolean(shown)));
      }
      if (!rows.length) makeElement("div", "note", questions, empty);
      const most = sign === "won" && !shown ? 8 : rows.length;
      rows.slice(0, most).forEach((row) => this.questionRow(questions, row, sign));
      if (rows.length > most)
        makeButton("plain more", questions, withValues(words.more_won, { n: rows.length - most }), () => showAll(true));
    };
    list(won, words.won, "won", words.none_won);
    list(lost, words.lost, "lost", words.none_lost);
    if (shown) {
      const head = makeElement("div", "grouphead", questions);
      makeElement("b", "", head, withValues(words.same, { n: same.length }));
      same.forEach((row) => this.questionRow(questions, row, "same"));
    } else if (nSame > 0) makeElement("div", "note", questions, withValues(words.same, { n: nSame }));
    makeElement("div", "note", questions, words.row_opens);
    if (focused) questions.querySelector(`[data-place="${focused}"]`)?.focus();
  }

  questionRow(parent, row, sign) {
    const line = makeButton(`question ${sign}`, parent, "", () => {
      this.sheet?.close();
      this.send("question", { place: row.place });
    });
    line.dataset.place = String(row.place);
    line.title = row.question;
    makeElement("i", "", line, { won: "+", lost: "−", same: "=" }[sign]);
    const text = makeElement("span", "text", line);
    const name = makeElement("span", "q", text, row.question);
    name.dir = "auto";
    const facts = makeElement("span", "facts", text);
    makeElement("span", "", facts, row.kind);
    const gold = makeElement("span", "", facts, `${this.data.words.gold} ${row.gold[0]} → `);
    makeElement("b", "", gold, row.gold[1]);
  }

  drawTable() {
    const { table } = this.parts,
      { words, measure, now, pinned, trail, others } = this.data;
    table.replaceChildren();
    if (!this.tableShown) return;
    const made = makeTable([words.setting, measure, words.context_tokens, words.against]);
    made.className = "lr-facts";
    makeElement("div", "lr-scroll", table).append(made);
    const rows = [
      [withColon(words.now, now.name), now],
      [withColon(words.pinned, pinned.name), pinned],
      ...[...trail].reverse().map((point) => [point.name, point]),
      ...others.map((point) => [point.name, point]),
    ];
    for (const [name, point] of rows) {
      const row = made.tBodies[0].insertRow();
      for (const text of [name, point.value ?? "–", point.tokens ?? "–", point.against ?? ""])
        row.insertCell().textContent = text;
    }
  }

  back() {
    if (this.data.trail.length) this.send("back");
  }

  // P pins, C opens a column, Backspace goes one back: unless somebody writes, or a dialog is open.
  pressed(event) {
    const target = /** @type {HTMLElement} */ (event.target);
    const writes =
      target.isContentEditable ||
      target.tagName === "TEXTAREA" ||
      target.tagName === "SELECT" ||
      (target.tagName === "INPUT" && /** @type {HTMLInputElement} */ (target).type !== "range");
    if (
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      writes ||
      document.querySelector('[role="dialog"],dialog[open]')
    )
      return;
    const run = {
      p: () => !this.data.now.isPinned && this.send("pin"),
      c: () => this.send("column"),
      backspace: () => this.back(),
    }[event.key.toLowerCase()];
    if (run) {
      event.preventDefault();
      event.stopPropagation();
      run();
    }
  }
}

function valuesOf(data) {
  return Object.fromEntries(
    data.groups.flatMap((group) => group.controls.map((each) => [each.key, each.stops[each.at]])),
  );
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-board");
  const board = (host.lrBoard ??= new Board(host));
  board.take(data, setTriggerValue);
}
