// The recorded questions of a site: what each system answered, how much they have in common, and the play of each.
function siteAnswer(side, say, parent) {
  const answer = makeText("p", "lr-read", parent);
  if (!side.answer.length) answer.textContent = say("site.no_answer");
  for (const [text, marks] of side.answer) {
    answer.append(`${text} `);
    for (const mark of marks) makeText("span", "lr-mark", answer, mark);
    answer.append(" ");
  }
  if (side.by) makeText("p", "muted", parent, side.by);
}

// The systems side by side: their contexts, the chunks that they share with the first one, and their answers.
function siteCompared(question, say, parent) {
  const scroll = makeElement("div", "lrs-scroll", parent),
    table = makeElement("table", "", scroll),
    first = new Set(question.sides[0].passages);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", say("page.compare"));
  const line = (title, cell, tag = "td") => {
    const row = makeElement("tr", "", table);
    makeText("th", "", row, title).scope = "row";
    for (const side of question.sides) cell(side, makeElement(tag, "", row));
  };
  line("", (side, cell) => (cell.textContent = side.title), "th");
  line(say("site.context_tokens"), (side, cell) => (cell.textContent = side.tokens.toLocaleString()));
  line(say("site.passages"), (side, cell) => (cell.textContent = String(side.passages.length)));
  line(
    say("site.shared"),
    (side, cell) => (cell.textContent = String(side.passages.filter((id) => first.has(id)).length)),
  );
  line(say("ask.answer"), (side, cell) => siteAnswer(side, say, cell));
}

// shown: { question, side }, positions. choose: is called with other ones. chunk: opens a chunk in the inspector.
async function siteQuestions(host, store, { shown, choose, say, chunk, turn }) {
  const { questions, playWords } = store.values,
    question = questions[shown.question] ?? questions[0],
    side = question.sides[shown.side] ?? question.sides[0],
    run = await store.load(side.shard);
  if (!turn()) return;
  const held = /** @type {HTMLElement} */ (document.activeElement)?.dataset?.name;
  host.replaceChildren();
  const label = makeElement("label", "lrs-question", host);
  makeText("span", "muted", label, say("site.question"));
  const select = makeElement("select", "", label);
  questions.forEach((each, at) => (makeElement("option", "", select, each.question).value = String(at)));
  select.value = String(questions.indexOf(question));
  select.dataset.name = "question";
  select.onchange = () => choose({ question: Number(select.value), side: 0 });
  makeText("h2", "lr-read", host, question.question);
  if (question.sides.length > 1) {
    siteCompared(question, say, host);
    const group = makeElement("div", "lrs-sides", host);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", say("site.play_of"));
    makeText("span", "muted", group, say("site.play_of"));
    question.sides.forEach((each, at) => {
      const button = makeButton("lrs-tab", group, each.title, () =>
        choose({ question: questions.indexOf(question), side: at }),
      );
      button.setAttribute("aria-pressed", String(each === side));
      button.dataset.name = `side${at}`;
    });
  } else siteAnswer(side, say, host);
  SITE_COMPONENTS.play(makeElement("div", "lrs-play", host), run.play, playWords, { start: run.start });
  const list = makeElement("div", "lrs-passages", host);
  makeText("h3", "lr-label", list, say("explore.inspect.chunks"));
  for (const passage of run.passages) {
    const fold = makeElement("details", "", list),
      head = makeElement("summary", "", fold);
    if (passage.mark) makeText("span", "lr-mark", head, passage.mark);
    head.append(" ");
    makeText("bdi", "", head, passage.name);
    makeText("p", "lr-read", fold, passage.text);
    if (passage.row !== null) makeButton("link", fold, say("explore.inspect.text"), () => chunk(passage.row));
  }
  if (held) /** @type {HTMLElement} */ (host.querySelector(`[data-name="${held}"]`))?.focus();
}
