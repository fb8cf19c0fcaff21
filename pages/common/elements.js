// HTML elements of the pages' scripts; put before each of them, behind svg.js. Every text is set by textContent.
function makeElement(tag, className, parent, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  parent?.append(made);
  return made;
}

// An element whose text reads in its own direction.
function makeText(tag, className, parent, text) {
  const made = makeElement(tag, className, parent, text);
  made.dir = "auto";
  return made;
}

function makeButton(className, parent, text, run) {
  const made = (text ? makeText : makeElement)("button", className, parent, text);
  made.type = "button";
  made.onclick = run;
  return made;
}

// The letters of a layer in its colour.
function makeLayerTag(layer, parent) {
  const tag = makeElement("span", "lr-layer", parent, `L${layer}`),
    step = Math.min(4, layer);
  tag.style.background = `var(--lr-l${step})`;
  tag.style.color = `var(--lr-l${step}k)`;
}

// An icon of the page's icon font, which readers aloud and translators leave out.
function makeIcon(parent, name) {
  const icon = makeElement("span", "icon", parent, name);
  icon.setAttribute("aria-hidden", "true");
  icon.translate = false;
}

// An entry of a legend: its sign and what that means.
function makeEntry(parent, look, text) {
  const entry = makeElement("span", "", parent),
    sign = makeElement("i", look, entry);
  entry.append(text);
  return sign;
}

// A table with those titles above its columns.
function makeTable(titles) {
  const table = makeElement("table"),
    head = table.createTHead().insertRow();
  for (const title of titles) makeElement("th", "", head, title).scope = "col";
  table.createTBody();
  return table;
}

function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
}

// Makes a shape a button, by mouse and by keyboard.
function makePickable(shape, attributes, pick) {
  setAttributes(shape, { role: "button", tabindex: "0", ...attributes });
  shape.onclick = pick;
  shape.onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    pick();
  };
}

// The ground of the page around the letters of a drawing.
const HALO = { stroke: "var(--lr-bg)", "stroke-width": 3, "paint-order": "stroke" };

// A small muted text of a drawing. look: further attributes, or others in the place of these.
function makeLabel(parent, x, y, text, look = {}) {
  return make("text", { x, y, "font-size": 12, fill: "var(--lr-mute)", ...look }, parent, text);
}

// A straight line of a drawing. colour: a name in the palette.
function makeLine(parent, [x1, y1], [x2, y2], colour, look = {}) {
  return make("line", { x1, y1, x2, y2, stroke: `var(--lr-${colour})`, ...look }, parent);
}

// The text with its {names} replaced; a name without a value stays.
function withValues(text, values) {
  return text.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole));
}

// Draws anew when the element has become more than `least` pixels wider or narrower; returns what ends that.
function watchWidth(element, draw, least = 2) {
  let width = element.clientWidth;
  const watcher = new ResizeObserver(() => {
    if (Math.abs(element.clientWidth - width) <= least) return;
    width = element.clientWidth;
    draw();
  });
  watcher.observe(element);
  return () => watcher.disconnect();
}
