// The hierarchy as blocks: what a click, a key or a search changes is marked here at once, and told to the page.
// One block can be reached by Tab; from there the arrows lead to the next one in that direction.
const SHAPES = { icicle: drawIcicle, treemap: drawTreemap, sunburst: drawSunburst };

function crumbs(data, open) {
  const nav = makeElement("nav", "crumbs");
  nav.setAttribute("aria-label", data.words.crumbs);
  data.crumbs.forEach((step, place) => {
    makeLayerTag(step.layer, nav);
    if (place === data.crumbs.length - 1) {
      makeText("b", "", nav, step.name).setAttribute("aria-current", "true");
      return;
    }
    makeButton("", nav, step.name, () => open(step.id));
    makeElement("span", "sep", nav, "›").setAttribute("aria-hidden", "true");
  });
  return nav;
}

// The script decides how many cells there is room for, so that it also knows where all of a layer are drawn.
function headText(column, data, blocks) {
  const drawn = blocks.filter((block) => block.layer === column.layer && !block.folded).length;
  const isWhole = column !== data.columns[0] && drawn === column.total;
  return isWhole ? drawn.toLocaleString(data.language) : column.text;
}

function heads(data, width, blocks) {
  const row = makeElement("div", "heads");
  if (data.shape !== "icicle") {
    for (const column of data.columns) {
      const head = makeElement("span", "", row);
      makeLayerTag(column.layer, head);
      head.append(headText(column, data, blocks));
    }
    return row;
  }
  columnPlaces(width, data.columns.length).forEach((place, at) => {
    const head = makeElement("span", "placed", row);
    head.style.cssText = `left:${place.x}px;width:${place.width}px`;
    makeLayerTag(data.columns[at].layer, head);
    head.title = headText(data.columns[at], data, blocks);
    if (place.width > 60) head.append(head.title);
  });
  return row;
}

function legend(data) {
  const row = makeElement("div", "legend");
  makeElement("b", "", row, data.measure.title);
  for (const step of data.measure.steps) makeEntry(row, `swatch ${step.paint}`, step.text);
  if (data.measure.name === "question") makeEntry(row, "disc", data.words.hits).textContent = "2";
  makeEntry(row, "swatch hatch", data.words.folded);
  makeEntry(row, "swatch found", data.words.found);
  return row;
}

function paintOf(data, block) {
  if (block.folded) return "folded";
  return data.measure.name === "layer"
    ? `l${Math.min(4, block.layer)}`
    : data.measure.name === "type"
      ? `t${block.step}`
      : data.measure.name === "question"
        ? `q${block.step}`
        : `s${block.step}`;
}

function draw(host, data, send) {
  const width = host.clientWidth || 660;
  if (data.shape === "sunburst") data = { ...data, height: Math.min(data.height, width) };
  const svg = make("svg", {
    width,
    height: data.height + 4,
    viewBox: `-2 -2 ${width + 4} ${data.height + 4}`,
    class: data.shape,
    role: "tree",
    "aria-label": data.label,
  });
  const hatch = make(
    "pattern",
    { id: "lr-hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)" },
    make("defs", {}, svg),
  );
  make("rect", { width: 6, height: 6, class: "hatch-ground" }, hatch);
  make("line", { x1: 0, y1: 0, x2: 0, y2: 6, class: "hatch-line" }, hatch);
  const blocks = [];
  SHAPES[data.shape](data, width, (block, shape, label) => {
    const group = make(
      "g",
      {
        class: `block ${paintOf(data, block)}`,
        "data-id": block.id,
        "data-layer": block.layer,
        "data-nodes": block.folded || 1,
        role: "treeitem",
        "aria-level": data.columns[0].layer - block.layer + 1,
        tabindex: -1,
      },
      svg,
    );
    make("title", {}, group, block.about);
    const box = shape(group);
    label(group);
    blocks.push({ ...block, group, shape: box });
  });
  const marks = make("g", { class: "marks", "aria-hidden": "true" }, svg);
  host.replaceChildren(
    crumbs(data, (id) => send("opened", id)),
    heads(data, width, blocks),
    svg,
    legend(data),
  );
  const named = blocks.filter((block) => !block.folded).length,
    { words, tools } = data;
  const said =
    named === data.nodes ? words.all_drawn : words.drawn.replace("{drawn}", named.toLocaleString(data.language));
  figureTools(host, {
    ...tools,
    note: [tools.note, said].filter(Boolean).join(" "),
    asTable: () => send("table", true),
    picture: () => svg,
  });
  return { svg, blocks, marks };
}

function mark(drawn, picked, lit) {
  drawn.marks.replaceChildren();
  let start;
  for (const block of drawn.blocks) {
    const isPicked = block.id === picked;
    block.group.setAttribute("aria-selected", String(isPicked));
    block.group.setAttribute("tabindex", "-1");
    block.group.classList.toggle("lit", lit(block));
    for (const kind of [lit(block) && "found", isPicked && "chosen"].filter(Boolean))
      drawn.marks.append(outline(block.shape, kind));
    if (isPicked) start = block;
  }
  start ||= drawn.blocks[0];
  start.group.setAttribute("tabindex", "0");
  return start;
}

function outline(shape, kind) {
  const copy = shape.cloneNode(false),
    inset = kind === "chosen" ? 1.5 : 1.25;
  copy.setAttribute("class", kind);
  if (copy.tagName !== "rect") return copy;
  const grow = kind === "chosen" ? 0 : 0.5; // both can be told apart where a match is chosen
  for (const name of ["x", "y"]) copy.setAttribute(name, Number(copy.getAttribute(name)) + inset - grow);
  for (const name of ["width", "height"])
    copy.setAttribute(name, Math.max(1, Number(copy.getAttribute(name)) - 2 * (inset - grow)));
  return copy;
}

// The nearest block in the direction of an arrow; what is off to the side counts twice.
function beside(here, blocks, key) {
  const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[key] || [0, 0];
  const middle = (block) => {
    const box = block.shape.getBBox();
    return [box.x + box.width / 2, box.y + box.height / 2, box];
  };
  const [x, y, own] = middle(here);
  let best,
    least = Infinity;
  for (const block of blocks) {
    if (block === here || (!dx && !dy)) continue;
    const [bx, by, box] = middle(block),
      along = (bx - x) * dx + (by - y) * dy;
    if (along <= 1) continue;
    const aside = dx ? Math.max(0, box.y - y, y - box.y - box.height) : Math.max(0, box.x - x, x - box.x - box.width);
    const off = Math.abs(dx ? by - y : bx - x),
      inColumn = dy && Math.abs(box.x - own.x) > 1 && Math.abs(bx - x) > own.width ? 10_000 : 0;
    const distance = along + 4 * aside + 0.01 * off + inColumn;
    if (distance < least) {
      least = distance;
      best = block;
    }
  }
  return best;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-blocks");
  let drawn,
    picked = globalThis.lrPicked ?? data.focus,
    searched = data.find,
    width = 0;
  const lit = (block) =>
    !block.folded &&
    (searched === data.find
      ? block.lit
      : searched && block.name.toLocaleLowerCase().includes(searched.toLocaleLowerCase()));
  const send = (name, value) => setTriggerValue(name, value);
  const redraw = () => {
    width = host.clientWidth;
    const held = host.querySelector("svg")?.contains(document.activeElement);
    drawn = draw(host, { ...data, picked }, send);
    const start = mark(drawn, picked, lit);
    if (held) start.group.focus();
    drawn.svg.onclick = (event) => {
      // The second click of a pair whose first one led elsewhere would lead back, or on to what now lies below it.
      if (event.detail > 1 && host.lrLed) return;
      const block = blockAt(event.target);
      if (block) host.lrLed = pick(block);
    };
    drawn.svg.onkeydown = (event) => {
      const here = blockAt(document.activeElement);
      if (!here) return;
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open(here);
        return;
      }
      if (event.key === "Backspace") {
        event.preventDefault();
        send("up", true);
        return;
      }
      const next = beside(here, drawn.blocks, event.key);
      if (!next) return;
      event.preventDefault();
      for (const block of drawn.blocks) block.group.setAttribute("tabindex", "-1");
      next.group.setAttribute("tabindex", "0");
      next.group.focus();
    };
  };
  const blockAt = (target) => {
    const group = target.closest?.(".block");
    return group && drawn.blocks.find((block) => block.group === group);
  };
  const blockOf = (id) => drawn.blocks.find((block) => block.id === id);
  const open = (block) => {
    if (block.folded || block.inner) send("opened", block.id);
    else pick(block);
  };
  // A second click on the chosen block opens it; on the outermost one it goes back up. Returns whether it leads elsewhere.
  const pick = (block) => {
    if (!block.folded && block.id !== picked) {
      picked = block.id;
      mark(drawn, picked, lit);
      send("picked", picked);
      return false;
    }
    const isOutermost = !block.folded && block.id === data.focus,
      leads = isOutermost || block.folded || block.inner > 0;
    if (isOutermost) send("up", true);
    else if (leads) send("opened", block.id);
    return leads;
  };
  redraw();
  // An earlier call with other data may still listen for a moment: the last one alone draws.
  const turn = (host.lrTurn = (host.lrTurn || 0) + 1),
    isLast = () => host.lrTurn === turn;
  const search = (event) => {
    if (!isLast()) return;
    searched = event.detail.trim();
    mark(drawn, picked, lit);
  };
  const choose = (event) => {
    if (isLast() && event.detail !== picked) {
      picked = event.detail;
      if (blockOf(picked)) mark(drawn, picked, lit);
      else redraw();
    }
  };
  document.addEventListener("lr-search", search);
  document.addEventListener("lr-picked", choose);
  const watcher = new ResizeObserver(() => {
    if (isLast() && Math.abs(host.clientWidth - width) > 2) redraw();
  });
  watcher.observe(host);
  return () => {
    watcher.disconnect();
    document.removeEventListener("lr-search", search);
    document.removeEventListener("lr-picked", choose);
  };
}
