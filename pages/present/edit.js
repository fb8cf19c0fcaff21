// The editor of a presentation: its slides as a list, the chosen one as it will be shown, words typed where they stand,
// notes, and what can be added. It holds the edits; each change is sent whole, so that none can be lost on the way.
const MOST_UNDONE = 50,
  NARROW = 760, // px, as in the style sheet
  REST_MS = 700;

const copyOf = (value) => JSON.parse(JSON.stringify(value));

class DeckEditor {
  // send: tells the page an event. data: see edit_view.py.
  constructor(host, send) {
    this.host = host;
    this.send = send;
    this.undone = [];
    this.redone = [];
    this.known = new Map();
    this.chosen = null;
    this.sent = 0;
    this.isPending = false;
    this.isDirty = false;
    this.isHeld = false;
    this.isStale = false;
    this.listeners = new AbortController();
    addEventListener("keydown", (event) => this.onKey(event), { signal: this.listeners.signal });
    addEventListener("beforeunload", (event) => this.beforeLeaving(event), { signal: this.listeners.signal });
    this.unprint = printing(() => ({ deck: this.shownDeck(), question: 0 }));
    this.watcher = new ResizeObserver(() => this.drawSlide());
  }

  end() {
    this.listeners.abort();
    this.watcher.disconnect();
    this.unprint();
    clearTimeout(this.resting);
  }

  // What the page has stored. Words under way stay: they are sent with the next change.
  update(data) {
    const isFirst = !this.data;
    this.data = data;
    for (const slide of data.deck.slides) this.known.set(slide.key, slide);
    if (isFirst || data.error) {
      this.edits = copyOf(data.edits);
      // Changed elsewhere: an earlier state of here would undo what was done there.
      if (data.revision !== this.revision) [this.undone, this.redone] = [[], []];
    }
    if (data.seq >= this.sent) this.isPending = false;
    this.revision = data.revision;
    if (data.added && data.added !== this.lastAdded) {
      this.lastAdded = data.added;
      this.remember();
      this.edits = copyOf(data.edits);
      this.chosen = data.added;
    }
    if (isFirst) this.chosen = this.addressed() ?? (data.chosen || null);
    if (isFirst) this.frame();
    if (this.isDirty && !this.isPending) this.save();
    if (!this.typing) this.draw();
    else if (this.isHeld) this.isStale = true;
    else this.drawList();
    this.say(data.error || this.stateOfSaving(), Boolean(data.error));
  }

  // The address ends with #SLIDE, counted from 1, so that a reload keeps the slide.
  addressed() {
    return this.slides[Number.parseInt(location.hash.slice(1), 10) - 1]?.key;
  }

  // A reload loses what the server has not confirmed: that is sent, and the browser asks whether to wait for it.
  beforeLeaving(event) {
    this.keepNotes();
    this.leaveWords();
    if (this.isPending) event.preventDefault();
  }

  stateOfSaving() {
    return this.isPending ? this.data.words.saving : this.data.words.saved;
  }

  say(text, isError = false) {
    this.status.textContent = text;
    this.status.classList.toggle("error", isError);
  }

  remember() {
    this.undone.push(copyOf(this.edits));
    if (this.undone.length > MOST_UNDONE) this.undone.shift();
    this.redone = [];
  }

  // A change of the edits, which can be undone.
  change(act) {
    const before = JSON.stringify(this.edits),
      after = copyOf(this.edits);
    act(after);
    if (JSON.stringify(after) === before) return;
    this.remember();
    this.edits = after;
    this.save();
    this.draw();
  }

  save() {
    this.isDirty = true;
    if (!this.isPending) {
      this.isDirty = false;
      this.isPending = true;
      this.sent += 1;
      this.send("edited", { seq: this.sent, revision: this.revision, edits: this.edits, chosen: this.chosen });
    }
    this.say(this.data.words.saving);
  }

  step(from, to) {
    if (!from.length) return;
    this.leaveWords();
    to.push(copyOf(this.edits));
    this.edits = from.pop();
    this.save();
    this.draw();
  }
  undo() {
    this.step(this.undone, this.redone);
  }
  redo() {
    this.step(this.redone, this.undone);
  }

  // All slides in their order, those left out too, with the words as they are typed.
  get slides() {
    const stored = this.data.deck.slides.filter((slide) => !slide.is_added).map((slide) => slide.key),
      named = this.edits.order.filter((key) => this.known.has(key) || key.startsWith("text-"));
    return [...new Set([...named, ...stored])].map((key) => this.slideOf(key));
  }

  slideOf(key) {
    const typed = this.edits.words[key] ?? {},
      known = this.known.get(key) ?? this.ownSlide(key),
      isText = known.kind === "text";
    return {
      ...known,
      is_left_out: this.edits.left_out.includes(key),
      notes: this.edits.notes[key] ?? known.stored_notes,
      views: known.views.map((view) => ({
        ...view,
        title: typed.title || view.stored,
        subtitle: typed.subtitle || "",
        picture: isText ? { text: typed.text ?? "", quotation: typed.quotation ?? "" } : view.picture,
      })),
    };
  }

  ownSlide(key) {
    const { text_title: title, text_foot: foot } = this.data.words,
      view = {
        title,
        stored: title,
        subtitle: "",
        strong: "",
        rest: "",
        foot,
        printed: foot,
        problem: "",
        picture: {},
      };
    return { key, kind: "text", views: [view], talk: "", stored_notes: "", is_added: true };
  }

  get deck() {
    const { deck } = this.data;
    return {
      ...deck,
      title: this.edits.title || this.data.title,
      subtitle: this.edits.subtitle,
      logo: this.edits.logo,
    };
  }

  // What an audience gets: a title with a figure that is not stored is as stored there.
  shownDeck() {
    const slides = this.slides
      .filter((slide) => !slide.is_left_out)
      .map((slide) => ({
        ...slide,
        views: slide.views.map((view) => (view.problem ? { ...view, title: view.stored, subtitle: "" } : view)),
      }));
    return { ...this.deck, slides };
  }

  get place() {
    const place = this.slides.findIndex((slide) => slide.key === this.chosen);
    return place < 0 ? 0 : place;
  }

  frame() {
    const { words: say } = this.data,
      { host } = this;
    host.className = "lre";
    host.lang = this.data.deck.language;
    const bar = element("header", "lre-bar"),
      labelled = (parent, sign, label, act) => {
        const button = iconButton(parent, label, sign, act);
        button.className = "lre-button";
        element("span", "", button, label);
        return button;
      };
    this.name = words("b", "", bar, "");
    this.status = element("span", "lre-status", bar);
    this.status.setAttribute("role", "status");
    this.undoing = labelled(bar, "undo", say.undo, () => this.undo());
    this.redoing = labelled(bar, "redo", say.redo, () => this.redo());
    labelled(bar, "print", say.pdf, () => window.print());
    labelled(bar, "play", say.show, () => this.leave("show"));
    const done = element("button", "lre-done", bar, say.done);
    done.type = "button";
    done.onclick = () => this.leave("done");
    const list = element("nav", "lre-list");
    list.setAttribute("aria-label", say.slides);
    const head = element("p", "lre-head", list);
    element("b", "", head, say.slides);
    element("span", "", head, say.keys);
    this.list = element("ol", "", list);
    const middle = element("main", "lre-middle");
    this.hint = element("p", "lre-hint", middle);
    this.hint.setAttribute("role", "status");
    this.frameOfSlide = element("div", "lre-slide", middle);
    this.slideHost = element("div", "", this.frameOfSlide);
    const notes = element("label", "lre-notes", middle);
    const notesHead = element("span", "lre-head", notes);
    element("b", "", notesHead, say.notes);
    element("span", "", notesHead, say.notes_hint);
    this.notes = element("textarea", "", notes);
    this.notes.dir = "auto";
    this.notes.maxLength = this.data.limits.notes;
    this.notes.oninput = () => {
      this.say(say.saving);
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.keepNotes(), REST_MS);
    };
    this.notes.onblur = () => this.keepNotes();
    element("p", "lre-lock", middle, say.lock);
    this.side = element("aside", "lre-side");
    for (const part of [list, this.side]) part.addEventListener("pointerdown", () => this.hold());
    host.replaceChildren(bar, list, middle, this.side);
    this.watcher.observe(this.frameOfSlide);
  }

  keepNotes() {
    clearTimeout(this.resting);
    const slide = this.slides.find((each) => each.key === this.notesOf);
    if (slide && this.notes.value !== slide.notes)
      this.change((edits) => {
        edits.notes[slide.key] = this.notes.value;
      });
    else this.say(this.stateOfSaving());
  }

  // While a button of the list or of the side is pressed, neither is drawn anew: what was typed is kept when its field
  // is left, which is before the click, and a click on a button that is gone by then would be lost.
  hold() {
    const released = new AbortController(),
      release = (event) => {
        if (event.type === "pointercancel" && event.pointerType === "mouse") return; // dragged: dragend follows
        released.abort();
        setTimeout(() => {
          this.isHeld = false;
          if (this.isStale) this.draw();
        });
      };
    this.isHeld = true;
    for (const name of ["pointerup", "pointercancel", "dragend"])
      addEventListener(name, release, { signal: AbortSignal.any([released.signal, this.listeners.signal]) });
  }

  leave(how) {
    this.keepNotes();
    this.leaveWords();
    const shown = this.shownDeck().slides.findIndex((slide) => slide.key === this.chosen);
    this.send("left", {
      how,
      place: Math.max(0, shown),
      seq: (this.sent += 1),
      revision: this.revision,
      edits: this.edits,
      chosen: this.chosen,
    });
  }

  draw() {
    const { slides } = this;
    this.chosen = slides[this.place].key;
    history.replaceState(history.state, "", `#${this.place + 1}`);
    this.name.textContent = this.deck.title;
    this.undoing.disabled = !this.undone.length;
    this.redoing.disabled = !this.redone.length;
    this.isStale = this.isHeld;
    this.drawSlide();
    if (!this.isHeld) {
      this.drawList();
      this.drawSide(slides[this.place]);
    }
    const slide = slides[this.place];
    if (this.notesOf !== slide.key || document.activeElement !== this.notes) this.notes.value = slide.notes;
    this.notesOf = slide.key;
  }

  drawList() {
    const { words: say } = this.data,
      held = focusedIn(this.list).key,
      { slides } = this;
    this.list.replaceChildren();
    slides.forEach((slide, place) => {
      const row = element("li", slide.key === this.chosen ? "here" : "", this.list),
        { title, problem } = slide.views[0];
      row.classList.toggle("out", slide.is_left_out);
      row.draggable = true;
      row.ondragstart = (event) => event.dataTransfer.setData("text/plain", slide.key);
      row.ondragover = (event) => {
        event.preventDefault();
        row.classList.add("over");
      };
      row.ondragleave = () => row.classList.remove("over");
      row.ondrop = (event) => {
        event.preventDefault();
        this.moveTo(event.dataTransfer.getData("text/plain"), place);
      };
      const open = element("button", "open", row);
      open.type = "button";
      open.dataset.key = `open-${slide.key}`;
      if (slide.key === this.chosen) open.setAttribute("aria-current", "true");
      open.onclick = () => this.choose(slide.key);
      open.onkeydown = (event) => {
        const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        if (event.altKey) this.moveTo(slide.key, place + by);
        else this.choose(slides[Math.max(0, Math.min(slides.length - 1, place + by))].key, { focus: true });
      };
      element("i", "", open, place + 1);
      words("span", "", open, title);
      if (slide.is_left_out) element("small", "", open, say.left_out);
      if (problem) element("small", "error", open, say.not_shown);
      const tools = element("span", "tools", row),
        tool = (label, sign, act, isOff = false) => {
          const button = iconButton(tools, withColon(label, title), sign, act);
          button.dataset.key = `${sign}-${slide.key}`;
          button.disabled = isOff;
        };
      tool(say.up, "up", () => this.moveTo(slide.key, place - 1), place === 0);
      tool(say.down, "down", () => this.moveTo(slide.key, place + 1), place === slides.length - 1);
      tool(
        slide.is_left_out ? say.put_back : say.leave_out,
        slide.is_left_out ? "left_out" : "out",
        () => this.leaveOut(slide),
        !slide.is_left_out && slides.filter((each) => !each.is_left_out).length === 1,
      );
      if (slide.is_added) tool(say.remove, "remove", () => this.remove(slide), slides.length === 1);
    });
    if (held) this.list.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }

  choose(key, { focus = false } = {}) {
    this.keepNotes();
    this.leaveWords();
    this.chosen = key;
    this.draw();
    if (innerWidth <= NARROW) this.frameOfSlide.scrollIntoView({ block: "nearest" }); // it stands below the list there
    if (focus) this.list.querySelector(`[data-key="open-${CSS.escape(key)}"]`)?.focus();
  }

  moveTo(key, place) {
    const keys = this.slides.map((slide) => slide.key),
      from = keys.indexOf(key);
    if (from < 0 || place < 0 || place >= keys.length || from === place) return;
    keys.splice(place, 0, keys.splice(from, 1)[0]);
    this.chosen = key;
    this.change((edits) => {
      edits.order = keys;
    });
    this.say(this.data.words.moved.replace("{n}", String(place + 1)));
  }

  leaveOut(slide) {
    this.change((edits) => {
      edits.left_out = slide.is_left_out
        ? edits.left_out.filter((key) => key !== slide.key)
        : [...edits.left_out, slide.key];
    });
  }

  remove(slide) {
    const place = this.slides.findIndex((each) => each.key === slide.key);
    this.change((edits) => {
      edits.order = this.slides.map((each) => each.key).filter((key) => key !== slide.key);
      edits.left_out = edits.left_out.filter((key) => key !== slide.key);
    });
    this.chosen = this.slides[Math.max(0, Math.min(place, this.slides.length - 1))].key;
    this.draw();
    this.say(this.data.words.removed);
  }

  addText() {
    const numbers = [...Object.keys(this.edits.words), ...this.edits.order]
      .filter((key) => key.startsWith("text-"))
      .map((key) => Number.parseInt(key.slice(5), 10));
    const key = `text-${Math.max(0, ...numbers) + 1}`,
      keys = this.slides.map((slide) => slide.key);
    keys.splice(this.place + 1, 0, key);
    this.chosen = key;
    this.change((edits) => {
      edits.order = keys;
      edits.words[key] = { title: this.data.words.text_title };
    });
    this.editable[0].focus();
    getSelection().selectAllChildren(this.editable[0]);
  }

  drawSlide() {
    if (!this.data || this.typing) return;
    const width = this.frameOfSlide.clientWidth,
      { slides } = this,
      slide = slides[this.place],
      view = slide.views[0];
    this.frameOfSlide.style.height = `${width / 1.6}px`;
    this.slideHost.style.fontSize = `${width / 90}px`;
    const { deck } = this,
      step = slide.kind === "steps" ? view.picture.steps.length - 1 : 0,
      still = stillSlide(this.slideHost, deck, slide, { step, all: slides });
    for (const button of this.slideHost.querySelectorAll("button")) button.tabIndex = -1;
    const [title, subtitle] = still.top.querySelectorAll("b, .lrp-decksub"),
      { limits, words: say } = this.data;
    this.editable = [
      this.typed(still.heading, say.slide_title, limits.slide_title, {
        read: () => this.edits.words[slide.key]?.title ?? "",
        write: (edits, text) => (wordsIn(edits, slide.key).title = text),
        stored: view.stored,
      }),
      this.typed(still.subtitle, say.slide_subtitle, limits.subtitle, {
        read: () => view.subtitle,
        write: (edits, text) => (wordsIn(edits, slide.key).subtitle = text),
        stored: "",
      }),
      this.typed(title, say.title, limits.title, {
        read: () => this.edits.title,
        write: (edits, text) => (edits.title = text),
        stored: this.data.title,
      }),
      this.typed(subtitle, say.deck_subtitle, limits.title, {
        read: () => this.edits.subtitle,
        write: (edits, text) => (edits.subtitle = text),
        stored: "",
      }),
    ];
    if (slide.kind === "text") {
      const [text, quotation] = still.body.querySelectorAll(".lrp-strong, .lrp-question");
      quotation.hidden = false;
      this.editable.push(
        this.typed(text, say.text, limits.text, {
          read: () => view.picture.text,
          write: (edits, typed) => (wordsIn(edits, slide.key).text = typed),
          stored: "",
          lines: true,
        }),
        this.typed(quotation, say.quotation, limits.quotation, {
          read: () => view.picture.quotation,
          write: (edits, typed) => (wordsIn(edits, slide.key).quotation = typed),
          stored: "",
          lines: true,
        }),
      );
    }
    this.hint.textContent = view.problem;
    this.hint.classList.toggle("error", Boolean(view.problem));
  }

  // Words that are typed where they stand: Enter keeps them, Escape leaves them as they were.
  typed(node, label, limit, { read, write, stored, lines = false }) {
    node.classList.add("lre-words");
    node.tabIndex = 0;
    node.contentEditable = "plaintext-only";
    if (node.contentEditable !== "plaintext-only") node.contentEditable = "true";
    node.setAttribute("role", "textbox");
    node.setAttribute("aria-label", label);
    node.dataset.placeholder = label;
    node.spellcheck = false;
    const { words: say } = this.data,
      shown = node.textContent,
      told = () =>
        (this.hint.textContent = say.length
          .replace("{what}", label)
          .replace("{n}", String(node.textContent.length))
          .replace("{total}", String(limit)));
    let isLeft = false;
    node.onfocus = () => {
      this.typing = node;
      isLeft = false;
      this.hint.classList.remove("error");
      told();
    };
    node.oninput = () => {
      if (node.textContent.length > limit) {
        node.textContent = node.textContent.slice(0, limit);
        getSelection().selectAllChildren(node);
        getSelection().collapseToEnd();
      }
      told();
    };
    node.onkeydown = (event) => {
      event.stopPropagation();
      const isUndo = (event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "z";
      if (isUndo) return; // of the field itself
      if (event.key === "Escape") {
        isLeft = true;
        node.textContent = shown;
        node.blur();
      } else if (event.key === "Enter" && !event.isComposing && !(event.shiftKey && lines)) {
        event.preventDefault();
        node.blur();
      }
    };
    node.onblur = (event) => {
      if (this.typing !== node) return;
      const next = this.editable.indexOf(event.relatedTarget);
      this.typing = null;
      const plain = (words) => words.replace(lines ? /[ \t]+/g : /\s+/g, " ").trim(),
        text = plain(node.innerText ?? node.textContent),
        kept = text === stored ? "" : text.slice(0, limit);
      if (isLeft || kept === read() || text === plain(shown)) this.draw();
      else this.change((edits) => write(edits, kept));
      if (next >= 0) this.editable[next].focus(); // the field that was clicked, or reached by Tab, is drawn anew
    };
    return node;
  }

  leaveWords() {
    this.typing?.blur();
  }

  drawSide(slide) {
    const { words: say } = this.data,
      { side } = this;
    if (side.contains(document.activeElement) && document.activeElement.matches("select, input[type=number]")) return;
    const held = focusedIn(side).key;
    side.replaceChildren();
    const button = (parent, look, label, act, key) => {
      const made = element("button", look, parent, label);
      made.type = "button";
      made.dataset.key = key;
      made.onclick = act;
      return made;
    };
    element("h2", "", side, say.add);
    const text = button(side, "lre-card", "", () => this.addText(), "add-text");
    element("b", "", text, say.add_text);
    element("span", "", text, say.add_text_hint);
    this.drawEqual(side, button);
    element("p", "lre-muted", side, say.add_elsewhere);
    element("h2", "", side, say.this_slide);
    const view = slide.views[0];
    if (view.strong && view.strong.length <= this.data.limits.slide_title && slide.kind !== "text")
      button(side, "lre-link", say.take_claim, () => this.retitle(slide.key, view.strong), "claim");
    if (this.edits.words[slide.key] && slide.kind !== "text")
      button(side, "lre-link", say.as_stored, () => this.change((edits) => delete edits.words[slide.key]), "stored");
    button(
      side,
      "lre-link",
      slide.is_left_out ? say.put_back : say.leave_out,
      () => this.leaveOut(slide),
      "leave",
    ).disabled = !slide.is_left_out && this.slides.filter((each) => !each.is_left_out).length === 1;
    if (slide.is_added) button(side, "lre-link danger", say.remove, () => this.remove(slide), "remove");
    element("h2", "", side, say.whole);
    const file = element("label", "lre-link", side, this.edits.logo ? say.other_logo : say.logo),
      input = element("input", "", file);
    Object.assign(input, { type: "file", accept: "image/png,image/svg+xml" });
    input.dataset.key = "logo";
    input.onchange = () => {
      this.takeLogo(input.files[0]);
      input.value = ""; // the same file may be chosen again, mended
    };
    element("p", "lre-muted", side, say.logo_hint);
    if (this.edits.logo)
      button(side, "lre-link", say.no_logo, () => this.change((edits) => (edits.logo = "")), "no-logo");
    if (held) side.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }

  retitle(key, text) {
    this.change((edits) => (wordsIn(edits, key).title = text));
  }

  // Two stored runs of a question, cut to one budget.
  drawEqual(side, button) {
    const { words: say, runs } = this.data,
      card = element("details", "lre-card", side),
      head = element("summary", "", card);
    card.open = Boolean(this.isEqualOpen);
    card.ontoggle = () => (this.isEqualOpen = card.open);
    element("b", "", head, say.equal);
    element("span", "", head, say.equal_hint);
    const pairs = runs.filter((each) => each.sides.length > 1);
    if (!pairs.length) {
      element("p", "lre-muted", card, say.equal_none);
      return;
    }
    const select = (label, options) => {
      const line = element("label", "", card, label),
        made = element("select", "", line);
      options.forEach((text, place) => {
        const option = words("option", "", made, text);
        option.value = String(place);
      });
      return made;
    };
    const asked = select(
        say.question,
        pairs.map((each) => each.question),
      ),
      first = select("A", []),
      second = select("B", []),
      line = element("label", "", card, say.budget),
      budget = element("input", "", line);
    Object.assign(budget, { type: "number", min: "100", step: "100", max: "200000" });
    const fill = () => {
      const { sides } = pairs[Number(asked.value)];
      for (const made of [first, second])
        made.replaceChildren(
          ...sides.map((each, place) => {
            const option = words("option", "", null, withCommas(each.name, each.tokens.toLocaleString()));
            option.value = String(place);
            return option;
          }),
        );
      first.value = "0";
      second.value = "1";
      budget.value = String(Math.max(100, Math.min(...sides.map((each) => each.tokens))));
    };
    asked.onchange = fill;
    fill();
    button(
      card,
      "lre-add",
      say.add_it,
      () => {
        const run = pairs[Number(asked.value)],
          tokens = Number.parseInt(budget.value, 10);
        if (!(tokens >= 100) || first.value === second.value) {
          this.say(say.equal_wrong, true);
          return;
        }
        this.sent += 1;
        this.isPending = true;
        const sides = [first, second].map((made) => Number(made.value));
        this.send("equal", { seq: this.sent, run: run.key, sides, budget: tokens, after: this.chosen });
      },
      "add-equal",
    );
  }

  takeLogo(file) {
    const { words: say, limits } = this.data;
    if (!file) return;
    if (file.size > limits.logo) {
      this.say(say.logo_large, true);
      return;
    }
    const reader = new FileReader(),
      picture = new Image(); // what the browser cannot draw would be a sign of a broken picture on every slide
    reader.onload = () => (picture.src = String(reader.result));
    picture.onload = () => this.change((edits) => (edits.logo = String(reader.result)));
    picture.onerror = () => this.say(say.logo_kind, true);
    reader.readAsDataURL(file);
  }

  onKey(event) {
    const within = event.target.closest?.("input,textarea,select,[contenteditable]");
    const isCommand = (event.ctrlKey || event.metaKey) && !within;
    const act = { z: () => (event.shiftKey ? this.redo() : this.undo()), y: () => this.redo() }[
      event.key.toLowerCase()
    ];
    if (isCommand && act) {
      event.preventDefault();
      act();
    }
  }
}

// The words of a slide, made where there are none yet.
function wordsIn(edits, key) {
  edits.words[key] ??= {};
  return edits.words[key];
}
