// Draws what the inspector shows of one thing. Tabs, and rows that unfold, work here; a click that leads on goes to
// Python as {do, id}. Every text is set by textContent and reads in its own direction.
function el(tag, className, text, parent) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) {
    made.textContent = text;
    made.dir = "auto";
  }
  if (parent) parent.append(made);
  return made;
}

function press(className, text, parent, run) {
  const made = el("button", className, text, parent);
  made.type = "button";
  made.onclick = run;
  return made;
}

function layerTag(layer, parent) {
  const tag = el("span", "lr-layer", `L${layer}`, parent);
  tag.style.background = `var(--lr-l${Math.min(4, layer)})`;
  tag.style.color = `var(--lr-l${Math.min(4, layer)}k)`;
}

function bar(share, parent) {
  const track = el("span", "bar", undefined, parent);
  track.setAttribute("aria-hidden", "true");
  el("i", "", undefined, track).style.width = `${Math.max(3, Math.round(share * 100))}%`;
}

const DRAW = {
  text(block, parent) {
    el("p", block.muted ? "muted" : "lr-read", block.text, parent);
  },
  label(block, parent) {
    const line = el("div", "lr-label", block.text, parent);
    if (block.note) el("span", "", block.note, line);
  },
  finding(block, parent) {
    const line = el("div", "lr-find", undefined, parent);
    el("b", "", block.summary, line);
    line.append(" ");
    el("span", "", block.text, line);
  },
  runs(block, parent, act) {
    const line = el("div", "line", undefined, parent);
    for (const part of block.parts) {
      if (part.mark) {
        el("span", "lr-mark", part.mark, line).style.setProperty("--c", `var(--lr-${part.colour})`);
      } else if (part.do) press("link", part.text, line, () => act(part.do, part.id));
      else el(part.strong ? "b" : "span", part.strong ? "rank" : "", part.text, line);
    }
  },
  passage(block, parent, act, words) {
    const card = el("div", "passage", undefined, parent);
    if (block.title) {
      const head = press("link title", undefined, card, () => act("chunk", block.id));
      el("b", "", block.title, head);
      el("span", "muted", block.sub, head);
    }
    const text = el("p", "lr-read", undefined, card);
    text.dir = "auto";
    for (const piece of block.pieces) {
      const run = el(piece.marked ? "mark" : "span", "", undefined, text);
      run.textContent = piece.text;
    }
    if (block.title) press("link", words.document, card, () => act("document", String(block.row)));
  },
  rows(block, parent, act, words) {
    if (block.note) el("p", "muted", block.note, parent);
    const list = el("ul", "", undefined, parent);
    for (const row of block.rows) listRow(row, el("li", "", undefined, list), act, words);
    if (!block.rows.length) list.remove();
    if (block.more) press("link", block.more, parent, () => act("more", block.moreId));
  },
};

function listRow(row, item, act, words) {
  const head = press("row", undefined, item, () => (row.unfolds.length ? toggle() : act(row.do, row.id)));
  const text = el("span", "names", undefined, head);
  const name = el("span", "name", undefined, text);
  if (row.layer !== null) layerTag(row.layer, name);
  el("bdi", "", row.name, name);
  if (row.sub) el("span", "muted sub", row.sub, text);
  if (row.bar !== null) bar(row.bar, head);
  if (row.value) el("span", "value", row.value, head);
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
    body = el("div", "unfolded", undefined, item);
    for (const block of row.unfolds) DRAW[block.kind](block, body, act, words);
    press("link", words.open, body, () => act(row.do, row.id));
  }
}

function drawHead(data, parent, act) {
  const head = el("div", "head", undefined, parent);
  if (data.name) {
    const name = el("div", "lr-name", data.name, head);
    name.setAttribute("role", "heading");
    name.setAttribute("aria-level", "2");
    if (data.name.length > 120) name.title = data.name;
  }
  for (const [place, end] of (data.ends || []).entries()) {
    const line = press("end", undefined, head, () => act("go", end.id));
    if (place) el("span", "muted", "↔", line).setAttribute("aria-hidden", "true");
    el("span", "lr-name", end.name, line);
  }
  if (data.parents.length) {
    const chain = el("div", "chain", undefined, head);
    for (const above of data.parents) {
      const link = press("parent", undefined, chain, () => act("go", above.id));
      link.title = above.name;
      layerTag(above.layer, link);
      el("bdi", "", above.name, link);
    }
  }
  const actions = el("div", "actions", undefined, head);
  for (const action of data.actions) {
    const button = press("action", undefined, actions, () => act(action.do, action.id));
    const icon = el("span", "icon", undefined, button);
    icon.textContent = action.icon;
    icon.setAttribute("aria-hidden", "true");
    icon.translate = false;
    el("span", "", action.title, button);
  }
}

function drawTabs(data, host, parent, act) {
  const bar = el("div", "tabs", undefined, parent),
    panel = el("div", "panel", undefined, parent);
  bar.setAttribute("role", "tablist");
  bar.setAttribute("aria-label", data.words.tabs);
  panel.setAttribute("role", "tabpanel");
  panel.tabIndex = 0;
  const buttons = data.tabs.map((tab) => {
    const button = press("", undefined, bar, () => open(tab));
    el("span", "", tab.title, button);
    if (tab.count) el("span", "count", tab.count, button);
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
  const made = el("div", "made", undefined, host);
  const said = el("div", "", undefined, made);
  el("b", "", data.made.title, said);
  said.append(" ");
  el("span", "", data.made.said, said);
  for (const line of data.made.lines) el("div", "", line, made);
  if (data.made.link) press("link", data.made.link, made, () => act("prompts", data.made.id));
}
