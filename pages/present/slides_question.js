// The slides about a question: its steps, the answer, strategies side by side, all questions.

// The sentences of an answer with their citation marks. hover: what a mark shows, if anything.
function answerText(parent, parts, colours, hover) {
  const text = words("p", "lrp-answer", parent, "");
  for (const part of parts) {
    text.append(part.text.trim(), " ");
    for (const mark of part.marks) {
      const chip = element(hover ? "button" : "span", "lrp-chip", text, mark);
      const colour = colours?.[mark.replace(/\d+$/, "")];
      if (colour) chip.style.setProperty("--c", `var(--lr-${colour})`);
      if (hover) {
        chip.type = "button";
        chip.dataset.key = `mark-${mark}`;
        chip.onpointerenter = chip.onfocus = chip.onclick = () => hover(mark, chip);
      }
      text.append(" ");
    }
    if (part.doubt) words("small", "lrp-doubt", text, part.doubt + " ");
  }
  return text;
}

function drawSteps(body, view, deckView) {
  const { deck, step } = deckView,
    { picture } = view,
    now = picture.steps[step],
    say = deck.words,
    isWhole = deckView.isStill && step === picture.steps.length - 1; // on paper: all steps, and what joins the topics
  const row = element("div", "lrp-beside", body),
    left = element("div", "lrp-left", row),
    right = element("div", "lrp-right", row);
  words("blockquote", "lrp-question", left, picture.question);
  const list = element("ol", "lrp-steps", left);
  picture.steps.forEach((each, place) => {
    const line = element("li", isWhole || place < step ? "past" : place === step ? "here" : "", list),
      button = element("button", "", line);
    button.type = "button";
    button.dataset.key = `step-${place}`;
    button.onclick = () => deckView.goTo(deckView.slide, place);
    if (place === step) button.setAttribute("aria-current", "step");
    element("i", "", button, place + 1);
    element("b", "", button, each.title);
    if (place < step || isWhole) element("span", "", button, each.fact);
  });
  const claim = element("p", "lrp-claim", left);
  claim.setAttribute("aria-live", "polite");
  claim.dir = "auto";
  const told = (isWhole && picture.steps.find((each) => each.name === "relations")) || now;
  if (told.strong) element("b", "", claim, withSpace(told.strong));
  claim.append(told.rest);
  const strip = element("div", "lrp-strip", right),
    { svg, width, height, small } = figure(right, view.title);
  if (picture.layouts[0].nodes.length) drawStepGraph(svg, picture.layouts, now, { width, height, small });
  else svg.parentElement.remove();
  const at = (name) => picture.steps.findIndex((each) => each.name === name);
  if (isWhole && picture.layouts[0].nodes.length)
    legend(strip, signsOf(picture.layouts[picture.layouts.length - 1], say));
  else if (now.name === "answer") answerText(strip, picture.answer, null).classList.add("opening");
  else if (now.name === "context" || (at("context") >= 0 && step > at("context"))) drawTokenBar(strip, picture, deck);
  else if (now.name === "chunks" || !picture.layouts[0].nodes.length) drawChunkCards(strip, picture, small);
  else legend(strip, signsOf(picture.layouts[picture.layouts.length - 1], say));
}

// The legend of what the subgraph has.
function signsOf(graph, say) {
  const kinds = new Set([...graph.nodes.map((node) => node.kind), ...graph.edges.map((edge) => edge.shape)]);
  return [
    ["seed", say.legend_seed, ["dot", "disc"]],
    ["path", say.legend_path, ["box"]],
    ["lca", say.legend_lca, ["double"]],
    ["bridge", say.legend_bridge, ["arc"]],
    ["relation dotted", say.legend_base, ["dotted"]],
  ].filter(([, , shapes]) => shapes.some((shape) => kinds.has(shape)));
}

// The subgraph in its layers: the widest layout that leaves room for large type, what the step has reached lit.
function drawStepGraph(svg, layouts, now, { width, height, small }) {
  const most = small ? 1.15 : 1.22,
    graph = layouts.filter((layout) => layout.plot_px <= width / most).pop() ?? layouts[0];
  const scale = Math.min(width / graph.plot_px, Math.max(0.6, height / graph.height), most),
    span = width / scale;
  const size = Math.max(12, Math.min(13.5, 16 / scale)),
    X = (x) => span * x,
    nodes = new Set(now.nodes),
    relations = new Set(now.relations);
  const root = make(
    "g",
    { transform: `translate(0 ${Math.max(0, (height - graph.height * scale) / 2)}) scale(${scale})` },
    svg,
  );
  const links = make("g", {}, root),
    boxes = make("g", {}, root),
    pills = make("g", {}, root),
    taken = [];
  const trays = new Map(
    graph.nodes
      .filter((node) => node.kind === "tray")
      .map((node) => [
        node.id,
        graph.nodes.some(
          (seed) =>
            seed.kind === "disc" &&
            Math.abs(seed.y - node.y) < node.height &&
            Math.abs(seed.x - node.x) < node.width / 2 &&
            nodes.has(seed.id),
        ),
      ]),
  );
  const isLit = (id) => nodes.has(id) || trays.get(id) === true;
  for (const edge of graph.edges) {
    const lit = edge.shape === "line" ? isLit(edge.source) && isLit(edge.target) : relations.has(edge.id);
    if (edge.shape === "line" || lit) drawEdge({ ...edge, lit }, X, links);
  }
  for (const edge of graph.edges
    .filter((each) => each.pill && relations.has(each.id))
    .sort((a, b) => b.strength - a.strength))
    drawPill({ ...edge, label: `${Math.round(edge.strength)}` }, X, pills, taken);
  for (const node of graph.nodes) {
    const group = make(
        "g",
        {
          class: `node ${node.kind}${node.filled ? " filled" : ""}${isLit(node.id) || node.kind === "fold" ? "" : " later"}`,
        },
        boxes,
      ),
      x = X(node.x);
    paint(group, node.colour);
    make("title", {}, group, node.about);
    if (node.kind === "dot" || node.kind === "disc") drawStepSeed(node, { x, span, size, small }, group);
    else if (node.kind === "tray") drawStepTray(node, { x, span, size }, group);
    else drawBox({ ...node, x, width: node.width * span, size, name: node.name }, group);
  }
}

function drawStepSeed(node, { x, span, size, small }, group) {
  drawDisc(
    { x, y: node.y, radius: node.height / 2, rank: node.rank ?? "", size: Math.max(11, size - 1), gap: 3 },
    group,
  );
  if (node.kind === "disc" || small) return;
  const base = node.y + node.height / 2 + 16 + node.line * 28;
  if (node.line) make("path", { class: "lrp-hair", d: `M${x} ${node.y + node.height / 2 + 3}V${base - 13}` }, group);
  const lines = wrap(node.name, node.room * span - 5, 2, `500 ${size}px ${FONT}`);
  lines.forEach((line, row) => {
    writeName("name", { x, y: base + row * (size + 1) }, group, line).style.fontSize = `${size}px`;
  });
}

function drawStepTray(node, { x, span, size }, group) {
  const w = node.width * span - 1,
    left = x - w / 2,
    top = node.y - node.height / 2;
  make("rect", { class: "lrp-tray", x: left, y: top, width: w, height: node.height, rx: 5 }, group);
  const lines = node.names.flatMap((name) => wrap(name, w - 12, node.name_lines ?? 1, `500 ${size}px ${FONT}`));
  lines.forEach((line, row) => {
    writeName("name", { x: left + 6, y: node.names_y + 11 + row * 15 }, group, line, left + w - 6).style.textAnchor =
      "start";
  });
  if (node.more)
    make(
      "text",
      { class: "name", x: left + 6, y: node.names_y + 11 + lines.length * 15 },
      group,
      `+${node.more}`,
    ).style.textAnchor = "start";
}

function drawChunkCards(host, picture, small) {
  const list = element("ul", "lrp-cards", host),
    most = small ? 4 : 5;
  for (const chunk of picture.chunks.slice(0, most)) {
    const card = element("li", "", list);
    element("b", "", card, chunk.mark);
    words("span", "", card, chunk.title);
    const dots = element("i", "", card);
    dots.textContent = "●".repeat(Math.min(12, chunk.seeds));
    dots.setAttribute("aria-hidden", "true");
  }
  if (picture.chunks.length > most) element("li", "more", list, `+${picture.chunks.length - most}`);
}

function drawTokenBar(host, picture, { language }) {
  const total = Math.max(
      1,
      picture.sections.reduce((sum, section) => sum + section.tokens, 0),
    ),
    bar = element("div", "lrp-tokens", host);
  const list = element("ul", "lrp-legend", host);
  for (const section of picture.sections) {
    const part = element("i", "", bar),
      line = element("li", "", list),
      key = element("i", "lrp-key", line);
    part.style.flexGrow = String(section.tokens / total);
    for (const mark of [part, key]) mark.style.background = `var(--lr-${section.colour})`;
    element("span", "", line, section.title);
    element("b", "", line, section.tokens.toLocaleString(language));
  }
}

function drawAnswer(body, view) {
  const { picture } = view,
    row = element("div", "lrp-beside", body),
    left = element("div", "lrp-left", row),
    right = element("div", "lrp-right", row);
  words("blockquote", "lrp-question", left, picture.question);
  const claim = element("p", "lrp-claim", left);
  if (view.strong) element("b", "", claim, withSpace(view.strong));
  claim.append(view.rest);
  element("p", "lrp-caption", right, picture.kind);
  const card = element("div", "lrp-evidence"),
    colours = {};
  for (const [mark, text] of Object.entries(picture.texts)) colours[mark.replace(/\d+$/, "")] = text.colour;
  const show = (mark) => {
    const text = picture.texts[mark];
    for (const chip of right.querySelectorAll(".lrp-chip")) chip.classList.toggle("here", chip.textContent === mark);
    card.replaceChildren();
    if (!text) return;
    card.style.setProperty("--c", `var(--lr-${text.colour})`);
    element("b", "lrp-chip", card, mark);
    words("span", "", card, text.where || text.lead);
    words("p", "", card, text.text);
  };
  answerText(right, picture.parts, colours, show);
  right.append(card);
  const first = picture.parts.flatMap((part) => part.marks)[0];
  if (first) show(first);
}

function drawCompare(body, view, { deck }) {
  const row = element("div", "lrp-columns", body);
  words("p", "lrp-asked", body, view.picture.question);
  body.prepend(body.lastChild);
  for (const column of view.picture.columns) {
    const side = element("section", `lrp-side side-${column.letter}`, row),
      head = element("h2", "", side);
    element("span", "lrp-letter", head, column.letter);
    element("span", "", head, column.name);
    element("p", "lrp-settings", side, column.settings);
    const big = element("p", "lrp-big", side);
    element("b", "", big, column.tokens.toLocaleString(deck.language));
    element("span", "", big, deck.words.tokens_for_answer);
    drawBar(side, column.share);
    const documents = element("ul", `lrp-documents${column.bridged ? " bridged" : ""}`, side),
      most = 4;
    for (const each of column.documents.slice(0, most)) {
      const item = element("li", "", documents),
        blocks = element("div", "", item);
      for (let n = 0; n < Math.min(each.chunks, 12); n += 1) element("i", "", blocks);
      words("span", "", item, each.title);
      item.title = each.title;
    }
    if (column.documents.length > most) element("li", "more", documents, `+${column.documents.length - most}`);
    drawFigures(side, column.figures);
    element("hr", "", side);
    if (column.answer.length) answerText(side, column.answer, column.colours);
  }
}

function drawQuestions(body, view, deckView) {
  const { rows, names, most } = view.picture,
    { deck } = deckView;
  if (view.strong) words("p", "lrp-asked", body, sentencesInRow(view.strong, view.rest));
  const table = element("div", "lrp-rows", body);
  rows.forEach((row, place) => {
    const line = element("section", "lrp-row", table),
      ask = words("button", "lrp-ask", line, row.question);
    ask.type = "button";
    ask.title = withColon(deck.words.steps_of, row.question);
    ask.dataset.key = `question-${place}`;
    ask.onclick = () => deckView.choose(place);
    const bars = element("div", "lrp-sides", line);
    row.sides.forEach((side, number) => {
      const { letter, name } = names[number],
        cost = element("div", `lrp-cost side-${letter}`, bars);
      element("span", "lrp-letter", cost, letter);
      element("span", "lrp-who", cost, name);
      drawBar(cost, side.tokens / most);
      element("b", "", cost, side.tokens.toLocaleString(deck.language));
      element("span", "lrp-gold", cost, side.gold || side.chunks);
    });
  });
}
