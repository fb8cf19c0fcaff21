// Draws blocks with the functions of svg.js.
// One block can be reached by Tab; from there the arrows lead along the tree, Enter picks.
// At most so many lines; the last one is filled with what there is more, and cut.
function wrap(text, width, most, size) {
  const fits = measure(width, `${size}px ${FONT}`), lines = linesOf(text, fits);
  if (lines.length > most) lines.splice(most - 1, lines.length, lines.slice(most - 1).join(" "));
  return lines.map((line) => cut(line, fits)).filter((line) => line && line !== "…");
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
  const at = Object.fromEntries(data.blocks.map((block) => [block.id, block]));
  for (let above = at[block.parent]; above; above = at[above.parent]) if (above.id === data.picked) return true;
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
