// The frame of a presentation: slides, steps within a slide, keys, dots, notes. Used by the page and by the exported
// file. Put behind svg.js, layers.js and the scripts of the slides. Every text is set by textContent.
const PLAY_MS = 2600;

function element(tag, look, parent, text) {
  const made = document.createElement(tag);
  if (look) made.className = look;
  if (text !== undefined) made.textContent = text;
  if (parent) parent.append(made);
  return made;
}

// A text that may be of any writing direction.
function words(tag, look, parent, text) {
  const made = element(tag, look, parent, text);
  made.dir = "auto";
  return made;
}

const SIGNS = {
  back: "M12.5 4 6.5 10l6 6",
  forth: "M7.5 4l6 6-6 6",
  close: "M5 5l10 10M15 5 5 15",
  play: "M6.5 4.5v11l9-5.5z",
  pause: "M7 4.5v11M13 4.5v11",
  whole: "M3.5 7.5v-4h4M12.5 3.5h4v4M16.5 12.5v4h-4M7.5 16.5h-4v-4",
  print: "M6 7V3.5h8V7M6 14H3.5V7.5h13V14H14M6 11.5h8v5H6z",
  speaker: "M3 4.5h14v9H3zM7 16.5h6M10 13.5v3",
  up: "M10 15.5v-11M5.5 9 10 4.5 14.5 9",
  down: "M10 4.5v11M5.5 11l4.5 4.5 4.5-4.5",
  out: "M2.5 10s3-5 7.5-5 7.5 5 7.5 5-3 5-7.5 5-7.5-5-7.5-5zM10 7.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8",
  left_out: "M2.5 10s3-5 7.5-5 7.5 5 7.5 5-3 5-7.5 5-7.5-5-7.5-5zM4 16 16 4",
  remove: "M4 5.5h12M8 5.5V3.5h4v2M5.5 5.5l.8 11h7.4l.8-11",
  undo: "M7.5 4 4 7.5 7.5 11M4 7.5h7.5a4.5 4.5 0 0 1 0 9H8",
  redo: "M12.5 4 16 7.5 12.5 11M16 7.5H8.5a4.5 4.5 0 0 0 0 9H12",
  add: "M10 4v12M4 10h12",
};

function iconButton(parent, label, sign, act) {
  const button = element("button", "lrp-icon", parent);
  button.type = "button";
  button.onclick = act;
  setIcon(button, label, sign);
  return button;
}

function setIcon(button, label, sign) {
  button.title = label;
  button.setAttribute("aria-label", label);
  const drawing = make("svg", { viewBox: "0 0 20 20", "aria-hidden": "true" });
  make("path", { d: SIGNS[sign] }, drawing);
  button.replaceChildren(drawing);
}

const SLIDE_DRAWERS = {
  documents: drawDocuments,
  graph: drawGraphSlide,
  islands: drawIslands,
  bridges: drawIslands,
  hierarchy: drawHierarchy,
  steps: drawSteps,
  answer: drawAnswer,
  compare: drawCompare,
  questions: drawQuestions,
  cost: drawCost,
  comparison: drawCompare,
  text: drawText,
  board: drawBoardSlide,
  picture: drawPicture,
};

// The line above every slide. The logo is drawn as an image, in which a browser runs no script.
function slideTop(deck) {
  const top = element("header", "lrp-top");
  if (deck.logo) {
    const logo = element("img", "lrp-logo", top);
    logo.src = deck.logo;
    logo.alt = deck.words.own_logo;
  } else {
    const mark = make("svg", { class: "lrp-mark", viewBox: "0 0 20 20", "aria-hidden": "true" }, top);
    make("path", { d: "M10 4 4 15M10 4 16 15", class: "stem" }, mark);
    make("path", { d: "M5 15H15", class: "dash" }, mark);
    make("rect", { x: 7, y: 1.5, width: 6, height: 5, rx: 1.4, class: "box" }, mark);
    for (const x of [4, 16]) make("circle", { cx: x, cy: 15.5, r: 2.9, class: "seed" }, mark);
  }
  words("b", "", top, deck.title);
  words("span", "lrp-decksub", top, deck.subtitle);
  words("span", "lrp-facts", top, deck.facts);
  return top;
}

// What was added from another page may be of other documents; its foot says of which.
function factsOf(deck, slide) {
  return slide.is_added && slide.kind !== "text" ? "" : deck.facts;
}

// A slide that stands still, with nothing around it: for a printed page, the speaker's next slide, the editor.
function stillSlide(host, deck, slide, { question = 0, step = 0, all = deck.slides } = {}) {
  const view = slide.views[Math.min(question, slide.views.length - 1)];
  host.className = "lrp lr-layers lrp-still";
  host.dataset.kind = slide.kind;
  host.lang = deck.language;
  const top = slideTop(deck),
    heading = words("h2", "lrp-title", null, view.title),
    subtitle = words("p", "lrp-subtitle", null, view.subtitle),
    body = element("div", "lrp-body"),
    foot = words("p", "lrp-source", null, view.foot);
  host.replaceChildren(top, heading, subtitle, body, foot);
  top.querySelector(".lrp-facts").textContent = factsOf(deck, slide);
  const still = { deck, slides: all, slide: all.indexOf(slide), step, question, isStill: true, goTo() {}, choose() {} };
  SLIDE_DRAWERS[slide.kind](body, view, still);
  fitText(body);
  return { top, heading, subtitle, body, view };
}

// Text longer than its column is set smaller, down to seven tenths: a line cut in two says less than a smaller one.
function fitText(body) {
  for (const column of body.querySelectorAll(".lrp-left, .lrp-side"))
    for (let size = 95; size >= 70 && column.scrollHeight > column.clientHeight + 1; size -= 5)
      column.style.fontSize = `${size / 100}em`;
}

class DeckView {
  // close: called when the reader leaves; without it there is nothing to leave.
  // start: the place of the first slide to show, else the address says it.
  constructor(host, deck, { close = null, root = host, start = null } = {}) {
    this.host = host;
    this.root = root;
    this.deck = deck;
    this.close = close;
    this.slide = 0;
    this.step = 0;
    this.question = 0;
    this.withNotes = false;
    this.timer = null;
    this.frame();
    this.readAddress();
    if (start !== null) this.slide = Math.min(start, this.slides.length - 1);
    if (start !== null) this.step = this.question = 0;
    /** @type {[Window, string, (event: any) => void][]} */
    this.listeners = [
      [window, "keydown", (event) => this.onKey(event)],
      [
        window,
        "hashchange",
        () => {
          this.readAddress();
          this.draw();
        },
      ],
    ];
    for (const [target, name, act] of this.listeners) target.addEventListener(name, act);
    this.unprint = printing(() => ({ deck: this.deck, question: this.question }));
    this.speaker = null;
    this.watcher = new ResizeObserver(() => this.drawBody());
    this.watcher.observe(this.body);
    this.draw();
    host.focus({ preventScroll: true });
  }

  end() {
    this.pause();
    for (const [target, name, act] of this.listeners) target.removeEventListener(name, act);
    this.watcher.disconnect();
    this.unprint();
    this.speaker?.close();
    this.host.replaceChildren();
  }

  frame() {
    const { host, deck } = this,
      say = deck.words;
    host.className = "lrp lr-layers";
    host.tabIndex = -1;
    host.lang = deck.language;
    host.setAttribute("role", "region");
    host.setAttribute("aria-label", withColon(say.deck, deck.title));
    const top = slideTop(deck);
    this.facts = top.querySelector(".lrp-facts");
    this.speaking = iconButton(top, say.speaker, "speaker", () => this.speak());
    iconButton(top, say.print, "print", () => window.print());
    if (document.fullscreenEnabled) iconButton(top, say.fullscreen, "whole", () => this.fullScreen());
    if (this.close) iconButton(top, say.close, "close", () => this.close());
    this.heading = words("h1", "lrp-title", null, "");
    this.subtitle = words("p", "lrp-subtitle", null, "");
    this.warning = element("p", "lrp-warning");
    this.warning.setAttribute("role", "alert");
    this.body = element("div", "lrp-body");
    this.foot = words("p", "lrp-source", null, "");
    this.notes = element("aside", "lrp-notes");
    this.notes.setAttribute("aria-label", say.notes);
    const bottom = element("footer", "lrp-bottom"),
      noting = element("button", "lrp-noting", bottom);
    noting.type = "button";
    noting.onclick = () => this.toggleNotes();
    noting.setAttribute("aria-expanded", "false");
    element("kbd", "", noting, "N");
    element("span", "", noting, say.notes);
    this.noting = noting;
    const way = element("nav", "lrp-way", bottom);
    way.setAttribute("aria-label", say.slide);
    this.back = iconButton(way, say.previous, "back", () => this.move(-1));
    this.dots = deck.slides.map((slide, place) => {
      const dot = element("button", "lrp-dot", way);
      dot.type = "button";
      dot.onclick = () => this.goTo(place);
      return dot;
    });
    this.forth = iconButton(way, say.next, "forth", () => this.move(1));
    this.player = iconButton(way, say.play, "play", () => this.play());
    this.count = element("span", "lrp-count", bottom);
    this.count.setAttribute("aria-live", "polite");
    host.replaceChildren(top, this.warning, this.heading, this.subtitle, this.body, this.foot, this.notes, bottom);
  }

  get slides() {
    return this.deck.slides;
  }
  get view() {
    const { views } = this.slides[this.slide];
    return views[Math.min(this.question, views.length - 1)];
  }
  get lastStep() {
    return this.slides[this.slide].kind === "steps" ? this.view.picture.steps.length - 1 : 0;
  }

  // The address ends with #SLIDE.STEP.QUESTION, each counted from 1.
  readAddress() {
    const [slide, step, question] = location.hash
      .slice(1)
      .split(".")
      .map((text) => Number.parseInt(text, 10) - 1);
    const within = (value, most) => Math.max(0, Math.min(most, Number.isInteger(value) ? value : 0));
    this.slide = within(slide, this.slides.length - 1);
    this.question = within(question, this.deck.questions.length - 1);
    this.step = within(step, this.lastStep);
  }

  draw() {
    const { deck, view } = this,
      slide = this.slides[this.slide],
      say = deck.words;
    history.replaceState(history.state, "", `#${this.slide + 1}.${this.step + 1}.${this.question + 1}`);
    this.facts.textContent = factsOf(deck, slide);
    this.heading.textContent = view.title;
    this.subtitle.textContent = view.subtitle;
    this.warning.textContent = "";
    this.foot.textContent = view.foot;
    this.host.dataset.kind = slide.kind;
    this.dots.forEach((dot, place) => {
      dot.className = `lrp-dot${place === this.slide ? " here" : place < this.slide ? " past" : ""}`;
      dot.setAttribute("aria-label", withColon(`${say.slide} ${place + 1}`, deck.slides[place].views[0].title));
      if (place === this.slide) dot.setAttribute("aria-current", "true");
      else dot.removeAttribute("aria-current");
    });
    this.back.disabled = this.slide === 0 && this.step === 0;
    this.forth.disabled = this.slide === this.slides.length - 1 && this.step >= this.lastStep;
    this.count.textContent = say.of.replace("{n}", this.slide + 1).replace("{total}", this.slides.length);
    this.player.hidden = this.lastStep === 0;
    setIcon(this.player, this.playing ? say.pause : say.play, this.playing ? "pause" : "play");
    this.drawNotes(slide);
    this.drawBody();
    this.speaker?.draw();
  }

  // The second window; a browser that blocks it is said to do so.
  speak() {
    if (!this.speaker) this.speaker = new SpeakerWindow(this);
    this.warning.textContent = this.speaker.open() ? "" : this.deck.words.speaker_blocked;
  }

  drawBody() {
    const held = focusedIn(this.body).key;
    this.body.replaceChildren();
    SLIDE_DRAWERS[this.slides[this.slide].kind](this.body, this.view, this);
    fitText(this.body);
    if (held) this.body.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }

  drawNotes(slide) {
    this.notes.hidden = !this.withNotes;
    this.noting.setAttribute("aria-expanded", String(this.withNotes));
    this.notes.replaceChildren();
    element("b", "", this.notes, this.deck.words.notes);
    if (slide.notes) words("p", "lrp-own", this.notes, slide.notes);
    words("p", "", this.notes, slide.talk);
  }

  goTo(slide, step = 0) {
    this.pause();
    this.slide = Math.max(0, Math.min(this.slides.length - 1, slide));
    this.step = 0;
    this.step = Math.max(0, Math.min(this.lastStep, step));
    this.draw();
  }

  // A step within the slide, else the next slide; backwards to the last step of the slide before.
  move(by) {
    const step = this.step + by;
    if (step >= 0 && step <= this.lastStep) this.goTo(this.slide, step);
    else if (by > 0 && this.slide < this.slides.length - 1) this.goTo(this.slide + 1);
    else if (by < 0 && this.slide > 0) this.goTo(this.slide - 1, Infinity);
  }

  choose(question) {
    this.question = question;
    const steps = this.slides.findIndex((slide) => slide.kind === "steps");
    this.goTo(steps < 0 ? this.slide : steps); // which an edit may have left out
  }

  get playing() {
    return this.timer !== null;
  }
  pause() {
    clearInterval(this.timer);
    this.timer = null;
  }
  play() {
    if (this.playing) {
      this.pause();
      this.draw();
      return;
    }
    if (this.step >= this.lastStep) this.step = 0;
    this.timer = setInterval(() => {
      if (this.step < this.lastStep) {
        this.step += 1;
        this.draw();
      }
      if (this.step >= this.lastStep) {
        this.pause();
        this.draw();
      }
    }, PLAY_MS);
    this.draw();
  }

  toggleNotes() {
    this.withNotes = !this.withNotes;
    this.drawNotes(this.slides[this.slide]);
  }
  fullScreen() {
    if (document.fullscreenElement) document.exitFullscreen();
    else this.root.requestFullscreen?.().catch(() => {});
  }

  onKey(event) {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest?.("input,textarea,select")) return;
    const onButton = event.target.closest?.("button") && (event.key === " " || event.key === "Enter");
    if (onButton) return;
    const act = {
      ArrowRight: () => this.move(1),
      PageDown: () => this.move(1),
      " ": () => this.move(event.shiftKey ? -1 : 1),
      ArrowLeft: () => this.move(-1),
      PageUp: () => this.move(-1),
      Home: () => this.goTo(0),
      End: () => this.goTo(this.slides.length - 1),
      n: () => this.toggleNotes(),
      s: () => this.speak(),
      f: () => this.fullScreen(),
      p: () => {
        if (this.lastStep) this.play();
      },
      Escape: () => {
        if (this.withNotes) this.toggleNotes();
        else this.close?.();
      },
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!act) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}
