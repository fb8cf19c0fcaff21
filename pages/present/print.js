// Paper: a slide a page, in the light theme, with every step listed, and below a rule the answer, its sources and the
// notes. The pages are made when the browser is about to print and gone when it has.

// wanted: returns what is printed. Returns a function that ends the listening.
function printing(wanted) {
  let sheets = null;
  const end = () => {
    sheets?.remove();
    sheets = null;
  };
  const begin = () => {
    end();
    const { deck, question } = wanted();
    sheets = element("div", "lrp-sheets", document.body);
    sheets.lang = deck.language;
    deck.slides.forEach((slide, place) => printedSheet(sheets, deck, slide, place, question));
  };
  addEventListener("beforeprint", begin);
  addEventListener("afterprint", end);
  return () => {
    end();
    removeEventListener("beforeprint", begin);
    removeEventListener("afterprint", end);
  };
}

function printedSheet(sheets, deck, slide, place, question) {
  const sheet = element("section", "lrp-sheet", sheets),
    host = element("div", "", sheet),
    view = slide.views[Math.min(question, slide.views.length - 1)];
  const last = slide.kind === "steps" ? view.picture.steps.length - 1 : 0;
  stillSlide(host, deck, slide, { question, step: last });
  const below = element("div", "lrp-below", sheet);
  if (slide.kind === "steps") printedAnswer(below, view.picture, deck);
  if (slide.notes) {
    const part = element("section", "", below);
    element("h3", "", part, deck.words.notes);
    words("p", "lrp-answer", part, slide.notes);
  }
  below.hidden = !below.children.length;
  const foot = element("footer", "", sheet);
  words("span", "", foot, view.printed);
  element("span", "", foot, deck.words.of.replace("{n}", place + 1).replace("{total}", deck.slides.length));
  fitText(host); // what stands below has taken its room by now
}

function printedAnswer(below, picture, deck) {
  const answer = element("section", "", below),
    sources = element("section", "", below);
  element("h3", "", answer, deck.words.answer);
  answerText(answer, picture.answer, null);
  element("h3", "", sources, deck.words.sources);
  const list = element("ul", "", sources);
  for (const source of picture.sources.slice(0, 8)) {
    const line = element("li", "", list),
      chip = element("span", "lrp-chip", line, source.mark);
    chip.style.setProperty("--c", `var(--lr-${source.colour})`);
    words("span", "", line, ` ${source.name}`);
  }
}
