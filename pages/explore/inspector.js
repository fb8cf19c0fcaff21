// Draws what the inspector shows of one thing. Tabs, and rows that unfold, work here; a click that leads on goes to
// Python as {do, id}. Every text is set by textContent and reads in its own direction.
function bar(share, parent) {
  const track = makeElement("span", "bar", parent);
  track.setAttribute("aria-hidden", "true");
  makeElement("i", "", track).style.width = `${Math.max(3, Math.round(share * 100))}%`;
}

const DRAW = {
  text(block, parent) {
    makeText("p", block.muted ? "muted" : "lr-read", parent, block.text);
  },
  label(block, parent) {
    const line = makeText("div", "lr-label", parent, block.text);
    if (block.note) makeText("span", "", line, block.note);
  },
  finding(block, parent) {
    const line = makeElement("div", "lr-find", parent);
    makeText("b", "", line, block.summary);
    line.append(" ");
    makeText("span", "", line, block.text);
  },
  runs(block, parent, act) {
    const line = makeElement("div", "line", parent);
    for (const part of block.parts) {
      if (part.mark) {
        makeText("span", "lr-mark", line, part.mark).style.setProperty("--c", `var(--lr-${part.colour})`);
      } else if (part.do) makeButton("link", line, part.text, () => act(part.do, part.id));
      else makeText(part.strong ? "b" : "span", part.strong ? "rank" : "", line, part.text);
    }
  },
  passage(block, parent, act, words) {
    const card = makeElement("div", "passage", parent);
    if (block.title) {
      const head = makeButton("link title", card, undefined, () => act("chunk", block.id));
      makeText("b", "", head, block.title);
      makeText("span", "muted", head, block.sub);
    }
    const text = makeText("p", "lr-read", card);
    for (const piece of block.pieces) makeElement(piece.marked ? "mark" : "span", "", text, piece.text);
    if (block.title) makeButton("link", card, words.document, () => act("document", String(block.row)));
  },
  rows(block, parent, act, words) {
    if (block.note) makeText("p", "muted", parent, block.note);
    const list = makeElement("ul", "", parent);
    for (const row of block.rows) listRow(row, makeElement("li", "", list), act, words);
    if (!block.rows.length) list.remove();
    if (block.more) makeButton("link", parent, block.more, () => act("more", block.moreId));
  },
};

function listRow(row, item, act, words) {
  const head = makeButton("row", item, undefined, () => (row.unfolds.length ? toggle() : act(row.do, row.id)));
  const text = makeElement("span", "names", head);
  const name = makeElement("span", "name", text);
  if (row.layer !== null) makeLayerTag(row.layer, name);
  makeText("bdi", "", name, row.name);
  if (row.sub) makeText("span", "muted sub", text, row.sub);
  if (row.bar !== null) bar(row.bar, head);
  if (row.value) makeText("span", "value", head, row.value);
  if (!row.unfolds.length) return;
  let body = null;
  head.setAttribute("aria-expanded", "false");
  function toggle() {
    head.setAttribute("aria-expanded", String(!body));
    if (body) {
      body.remove();
      body = null;
      return;
    }
    body = makeElement("div", "unfolded", item);
    for (const block of row.unfolds) DRAW[block.kind](block, body, act, words);
    makeButton("link", body, words.open, () => act(row.do, row.id));
  }
}

function drawHead(data, parent, act) {
  const head = makeElement("div", "head", parent);
  if (data.name) {
    const name = makeText("div", "lr-name", head, data.name);
    name.setAttribute("role", "heading");
    name.setAttribute("aria-level", "2");
    if (data.name.length > 120) name.title = data.name;
  }
  for (const [place, end] of (data.ends || []).entries()) {
    const line = makeButton("end", head, undefined, () => act("go", end.id));
    if (place) makeText("span", "muted", line, "↔").setAttribute("aria-hidden", "true");
    makeText("span", "lr-name", line, end.name);
  }
  if (data.parents.length) {
    const chain = makeElement("div", "chain", head);
    for (const above of data.parents) {
      const link = makeButton("parent", chain, undefined, () => act("go", above.id));
      link.title = above.name;
      makeLayerTag(above.layer, link);
      makeText("bdi", "", link, above.name);
    }
  }
  const actions = makeElement("div", "actions", head);
  for (const action of data.actions) {
    const button = makeButton("action", actions, undefined, () => act(action.do, action.id));
    makeIcon(button, action.icon);
    makeText("span", "", button, action.title);
  }
}

function drawTabs(data, host, parent, act) {
  const bar = makeElement("div", "tabs", parent),
    panel = makeElement("div", "panel", parent);
  bar.setAttribute("role", "tablist");
  bar.setAttribute("aria-label", data.words.tabs);
  panel.setAttribute("role", "tabpanel");
  panel.tabIndex = 0;
  const buttons = data.tabs.map((tab) => {
    const button = makeButton("", bar, undefined, () => open(tab));
    makeText("span", "", button, tab.title);
    if (tab.count) makeText("span", "count", button, tab.count);
    button.setAttribute("role", "tab");
    button.setAttribute("aria-label", [tab.title, tab.count].filter(Boolean).join(" "));
    button.id = `inspected-${tab.key}`;
    return button;
  });
  function open(tab, focus) {
    host.dataset.tab = tab.key;
    data.tabs.forEach((each, place) => {
      buttons[place].setAttribute("aria-selected", String(each === tab));
      buttons[place].tabIndex = each === tab ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `inspected-${tab.key}`);
    panel.replaceChildren();
    for (const block of tab.blocks) DRAW[block.kind](block, panel, act, data.words);
    if (focus) buttons[data.tabs.indexOf(tab)].focus();
  }
  bar.onkeydown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const now = data.tabs.findIndex((tab) => tab.key === host.dataset.tab);
    open(data.tabs[(now + step + data.tabs.length) % data.tabs.length], true);
  };
  open(data.tabs.find((tab) => tab.key === host.dataset.tab) || data.tabs[0]);
  return panel;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-inspected");
  const drawing = JSON.stringify(data);
  if (host.lrDrawing === drawing) return; // a rerun that changes nothing keeps tab, unfolded rows and place
  const same = host.lrThing === data.id,
    at = same ? host.querySelector(".panel")?.scrollTop : 0;
  host.lrDrawing = drawing;
  host.lrThing = data.id;
  // The time tells two equal requests apart: a second click on a row is a request, too.
  const act = (what, id) => setTriggerValue("acted", JSON.stringify({ do: what, id, owner: data.id, at: Date.now() }));
  host.replaceChildren();
  drawHead(data, host, act);
  const panel = drawTabs(data, host, host, act);
  panel.scrollTop = at || 0;
  const made = makeElement("div", "made", host);
  const said = makeElement("div", "", made);
  makeText("b", "", said, data.made.title);
  said.append(" ");
  makeText("span", "", said, data.made.said);
  for (const line of data.made.lines) makeText("div", "", made, line);
  if (data.made.link) makeButton("link", made, data.made.link, () => act("prompts", data.made.id));
}
