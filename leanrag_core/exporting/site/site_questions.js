// The recorded questions of a site: what each system answered, how much they have in common, and the play of each.
function siteElement(tag, className, text, parent) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) {
    made.textContent = text;
    made.dir = "auto";
  }
  parent?.append(made);
  return made;
}

function sitePress(className, text, parent, run) {
  const made = siteElement("button", className, text, parent);
  made.type = "button";
  made.onclick = run;
  return made;
}

function siteAnswer(side, say, parent) {
  const answer = siteElement("p", "lr-read", undefined, parent);
  answer.dir = "auto";
  if (!side.answer.length) answer.textContent = say("site.no_answer");
  for (const [text, marks] of side.answer) {
    answer.append(`${text} `);
    for (const mark of marks) siteElement("span", "lr-mark", mark, answer);
    answer.append(" ");
  }
  if (side.by) siteElement("p", "muted", side.by, parent);
}

// The systems side by side: their contexts, the chunks that they share with the first one, and their answers.
function siteCompared(question, say, parent) {
  const scroll = siteElement("div", "lrs-scroll", undefined, parent),
    table = siteElement("table", "", undefined, scroll),
    first = new Set(question.sides[0].passages);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "region");
  scroll.setAttribute("aria-label", say("page.compare"));
  const line = (title, cell, tag = "td") => {
    const row = siteElement("tr", "", undefined, table);
    siteElement("th", "", title, row).scope = "row";
    for (const side of question.sides) cell(side, siteElement(tag, "", undefined, row));
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
  const label = siteElement("label", "lrs-question", undefined, host),
    select = document.createElement("select");
  siteElement("span", "muted", say("site.question"), label);
  questions.forEach((each, at) => {
    const option = document.createElement("option");
    option.value = String(at);
    option.textContent = each.question;
    select.append(option);
  });
  select.value = String(questions.indexOf(question));
  select.dataset.name = "question";
  select.onchange = () => choose({ question: Number(select.value), side: 0 });
  label.append(select);
  siteElement("h2", "lr-read", question.question, host).dir = "auto";
  if (question.sides.length > 1) {
    siteCompared(question, say, host);
    const group = siteElement("div", "lrs-sides", undefined, host);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", say("site.play_of"));
    siteElement("span", "muted", say("site.play_of"), group);
    question.sides.forEach((each, at) => {
      const button = sitePress("lrs-tab", each.title, group, () =>
        choose({ question: questions.indexOf(question), side: at }),
      );
      button.setAttribute("aria-pressed", String(each === side));
      button.dataset.name = `side${at}`;
    });
  } else siteAnswer(side, say, host);
  SITE_COMPONENTS.play(siteElement("div", "lrs-play", undefined, host), run.play, playWords, { start: run.start });
  const list = siteElement("div", "lrs-passages", undefined, host);
  siteElement("h3", "lr-label", say("explore.inspect.chunks"), list);
  for (const passage of run.passages) {
    const fold = siteElement("details", "", undefined, list),
      head = siteElement("summary", "", undefined, fold);
    if (passage.mark) siteElement("span", "lr-mark", passage.mark, head);
    head.append(" ");
    siteElement("bdi", "", passage.name, head);
    siteElement("p", "lr-read", passage.text, fold);
    if (passage.row !== null) sitePress("link", say("explore.inspect.text"), fold, () => chunk(passage.row));
  }
  if (held) /** @type {HTMLElement} */ (host.querySelector(`[data-name="${held}"]`))?.focus();
}
