// Draws blocks as SVG. Every text is set by textContent; colours are the page's --lr-* properties.
// One block can be reached by Tab; from there the arrows lead along the tree, Enter picks.
const NS = "http://www.w3.org/2000/svg";
const FONT = '"Source Sans","Source Sans Pro",system-ui,sans-serif';
const pen = document.createElement("canvas").getContext("2d");

function make(tag, attributes, parent, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function cut(text, fits) { // the longest beginning that fits, found by halving
  if (fits(text)) return text;
  let low = 0, high = text.length;
  while (low < high) { const middle = (low + high + 1) >> 1; if (fits(text.slice(0, middle) + "…")) low = middle; else high = middle - 1; }
  return low ? text.slice(0, low).trimEnd() + "…" : "";
}

function wrap(text, width, most, size) {
  pen.font = `${size}px ${FONT}`;
  const fits = (line) => pen.measureText(line).width <= width;
  const words = text.split(/\s+/), lines = [];
  let line = "", at = 0;
  for (; at < words.length && lines.length < most; at++) {
    const longer = line ? line + " " + words[at] : words[at];
    if (line && !fits(longer)) { lines.push(line); line = words[at]; } else line = longer;
  }
  if (lines.length < most) lines.push(line);
  else if (line || at < words.length) lines[most - 1] += " " + [line, ...words.slice(at)].join(" ");
  return lines.map((one) => cut(one, fits)).filter(Boolean);
}

function label(block, group, x, y, width, height) {
  const room = block.strip ? 20 : height - 3, size = room >= 17 ? 13 : room >= 13.5 ? 11.5 : room >= 11.5 ? 10 : 0;
  if (!size || width < 24) return;
  const step = size + 3.5, most = block.strip ? 1 : Math.min(4, Math.floor(room / step) || 1);
  const lines = wrap(block.name, width - 14, most, size), ink = block.folded ? "var(--lr-mute)" : `var(--lr-l${Math.min(4, block.layer)}k)`;
  const middle = block.strip ? y + 11 : y + height / 2;
  lines.forEach((line, n) => make("text", { x: x + 8, y: middle + (n - (lines.length - 1) / 2) * step + size * 0.35, fill: ink, "font-size": size, style: "unicode-bidi:plaintext" }, group, line));
}

function draw(host, data, pick) {
  const width = host.clientWidth || 660, gap = data.columns.length ? 1.5 : 0.75;
  const svg = make("svg", { width, height: data.height + 4, viewBox: `-2 -2 ${width + 4} ${data.height + 4}`, role: "tree", "aria-label": data.label });
  const groups = new Map();
  for (const block of data.blocks) {
    const x = block.x * width + gap / 2, y = block.y + gap / 2;
    const w = Math.max(0.5, block.width * width - gap), h = Math.max(0.5, block.height - (block.height > 6 ? gap : 0.5));
    const group = make("g", { class: `block${block.folded ? " folded" : ""}${block.id === data.picked ? " picked" : ""}`, "data-id": block.id, role: "treeitem", "aria-selected": block.id === data.picked, tabindex: -1 }, svg);
    make("title", {}, group, block.about);
    make("rect", { x, y, width: w, height: h, rx: Math.min(3, h / 4), fill: `var(--lr-l${Math.min(4, block.layer)})` }, group);
    label(block, group, x, y, w, h);
    groups.set(block.id, group);
    if (block.folded) { group.setAttribute("aria-disabled", "true"); continue; }
    group.onclick = () => pick(block.id);
  }
  const start = groups.get(data.picked) || groups.get(data.blocks[0].id);
  start.setAttribute("tabindex", "0");
  svg.append(start); // its outline lies above its neighbours
  if (!data.columns.length) for (const block of data.blocks) if (block.id !== data.picked && inside(block, data)) svg.append(groups.get(block.id));
  svg.onkeydown = (event) => {
    const here = data.blocks.find((block) => groups.get(block.id) === document.activeElement);
    if (!here) return;
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); if (!here.folded) pick(here.id); return; }
    const to = beside(here, data.blocks, event.key);
    if (!to) return;
    event.preventDefault();
    for (const group of groups.values()) group.setAttribute("tabindex", "-1");
    groups.get(to.id).setAttribute("tabindex", "0");
    groups.get(to.id).focus();
  };
  host.replaceChildren(svg);
  return start;
}

function inside(block, data) { // whether the block lies in the picked one
  const at = Object.fromEntries(data.blocks.map((one) => [one.id, one]));
  for (let one = at[block.parent]; one; one = at[one.parent]) if (one.id === data.picked) return true;
  return false;
}

function beside(here, blocks, key) {
  const level = blocks.filter((block) => block.layer === here.layer), place = level.indexOf(here);
  if (key === "ArrowDown") return level[place + 1];
  if (key === "ArrowUp") return level[place - 1];
  if (key === "ArrowRight") return blocks.find((block) => block.parent === here.id);
  if (key === "ArrowLeft") return blocks.find((block) => block.id === here.parent);
  return undefined;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-blocks");
  const redraw = () => {
    const held = host.contains(document.activeElement);
    const start = draw(host, data, (id) => setTriggerValue("picked", id));
    if (held) start.focus();
  };
  redraw();
  let drawn = host.clientWidth;
  const watcher = new ResizeObserver(() => { if (Math.abs(host.clientWidth - drawn) > 2) { drawn = host.clientWidth; redraw(); } });
  watcher.observe(host);
  return () => watcher.disconnect();
}
