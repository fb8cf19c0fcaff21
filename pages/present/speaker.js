// The speaker's second window: notes in large type, the next slide, the time. This page draws into it, so that it works
// in the exported file too, whose policy lets one script run.
class SpeakerWindow {
  constructor(deckView) {
    this.deckView = deckView;
    this.began = Date.now();
    this.window = null;
    this.timer = null;
    this.leaving = () => this.leave();
  }

  // A reload of the slides leaves this window behind: it says how to go on. A file cannot reach it again and closes it.
  leave() {
    if (location.protocol === "file:") this.close();
    else this.notes.prepend(words("p", "lrp-now", null, this.deckView.deck.words.speaker_left));
  }

  // Whether the window is there. It keeps the time when it is opened again.
  open() {
    if (this.window && !this.window.closed) {
      this.window.focus();
      return true;
    }
    // By its name a window that a reload of the slides has left behind is taken over, with its time.
    this.window = window.open("", "lrp-speaker", "popup,width=1000,height=680");
    if (!this.window) return false;
    this.began = Number(this.window.document.documentElement.dataset.began) || this.began;
    this.frame();
    this.draw();
    clearInterval(this.timer);
    this.deckView.speaking.setAttribute("aria-pressed", "true");
    addEventListener("pagehide", this.leaving);
    this.timer = setInterval(() => (this.window.closed ? this.close() : this.tick()), 1000);
    return true;
  }

  close() {
    clearInterval(this.timer);
    removeEventListener("pagehide", this.leaving);
    this.window?.close();
    this.window = null;
    this.deckView.speaking.setAttribute("aria-pressed", "false");
  }

  frame() {
    const { document: paper } = this.window,
      say = this.deckView.deck.words,
      host = element("div", "lrp-speaker");
    paper.title = withColon(say.speaker, this.deckView.deck.title);
    paper.documentElement.lang = this.deckView.deck.language;
    paper.documentElement.style.cssText = themeOf(document.documentElement);
    paper.documentElement.dataset.began = String(this.began);
    paper.head.replaceChildren();
    for (const sheet of document.querySelectorAll("style, link[rel=stylesheet]")) {
      const copy = paper.createElement(sheet.tagName);
      if (sheet instanceof HTMLLinkElement) Object.assign(copy, { rel: "stylesheet", href: sheet.href });
      else copy.textContent = sheet.textContent;
      paper.head.append(copy);
    }
    const head = element("header", "", host);
    this.title = words("h1", "", head, "");
    this.count = element("span", "", head);
    this.clock = element("output", "", head);
    this.clock.setAttribute("aria-label", say.elapsed);
    const again = element("button", "", head, say.restart);
    again.type = "button";
    again.onclick = () => {
      this.began = Date.now();
      paper.documentElement.dataset.began = String(this.began);
      this.tick();
    };
    this.notes = element("div", "lrp-speaker-notes", host);
    const next = element("aside", "", host);
    element("h2", "", next, say.next_slide);
    this.preview = element("div", "lrp-preview", next);
    const foot = element("footer", "", host);
    iconButton(foot, say.previous, "back", () => this.deckView.move(-1));
    iconButton(foot, say.next, "forth", () => this.deckView.move(1));
    paper.body.style.margin = "0";
    paper.body.replaceChildren(host);
    this.window.addEventListener("keydown", (event) => this.deckView.onKey(event));
    // The preview is drawn again where the style sheets arrive late.
    this.window.addEventListener("load", () => this.draw(), true);
    this.window.addEventListener("resize", () => this.draw());
  }

  draw() {
    if (!this.window || this.window.closed) return;
    const { deckView } = this,
      { deck, slides } = deckView,
      slide = slides[deckView.slide],
      following = slides[deckView.slide + 1];
    this.title.textContent = deckView.view.title;
    this.count.textContent = deckView.count.textContent;
    this.notes.replaceChildren();
    const now = slide.kind === "steps" ? deckView.view.picture.steps[deckView.step] : null;
    if (now) words("p", "lrp-now", this.notes, withColon(now.title, sentencesInRow(now.strong, now.rest)));
    if (slide.notes) words("p", "lrp-own", this.notes, slide.notes);
    words("p", "", this.notes, slide.talk);
    this.preview.replaceChildren();
    if (following) {
      const host = element("div", "", this.preview);
      host.inert = true; // to be seen alone
      stillSlide(host, deck, following, { question: deckView.question });
    } else words("p", "", this.preview, deck.words.last_slide);
    this.tick();
  }

  tick() {
    const seconds = Math.floor((Date.now() - this.began) / 1000);
    this.clock.textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }
}

// The colours of a page, as declarations.
function themeOf(root) {
  const style = getComputedStyle(root),
    names = new Set();
  for (const sheet of document.styleSheets) {
    try {
      for (const rule of sheet.cssRules) {
        const found = rule.cssText.match(/--lr-[\w-]+(?=:)/g);
        for (const name of found ?? []) names.add(name);
      }
    } catch {
      continue; // a sheet of another origin cannot be read, and has none of the colours
    }
  }
  return [...names].map((name) => `${name}:${style.getPropertyValue(name)}`).join(";");
}
