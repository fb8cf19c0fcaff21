// The three shapes of a hierarchy: each draws its blocks with `drawn(block, shape element, label function)`.
// Texts are set by textContent. Widths are the browser's: x of an icicle is a column, of a treemap a fraction.
const NAME_FONT = 12.5;

function columnPlaces(width, n) {
  const first = width < 520 ? 28 : 48,
    gap = 2,
    rest = width - first - gap * (n - 1);
  if (n === 1) return [{ x: 0, width }];
  const shares = n === 4 ? [200, 200, 312] : n === 3 ? [300, 412] : [1],
    total = shares.reduce((sum, share) => sum + share, 0);
  const places = [{ x: 0, width: first }];
  for (const share of shares)
    places.push({ x: places.at(-1).x + places.at(-1).width + gap, width: (rest * share) / total });
  return places;
}

function writeLine(group, text, x, y, size, options = {}) {
  const attributes = {
    x,
    y,
    "font-size": size,
    class: options.muted ? "muted" : "ink",
    style: "unicode-bidi:plaintext",
  };
  if (options.bold) attributes["font-weight"] = 600;
  if (options.anchor) attributes["text-anchor"] = options.anchor;
  if (options.turn !== undefined) attributes.transform = `rotate(${options.turn} ${x} ${y})`;
  return make("text", attributes, group, text);
}

function badge(group, text, x, y) {
  make("circle", { cx: x, cy: y, r: 8, class: "badge" }, group);
  make(
    "text",
    {
      x,
      y: y + 3.6,
      "font-size": text.length > 2 ? 8 : 10,
      "font-weight": 700,
      "text-anchor": "middle",
      class: "badge-ink",
    },
    group,
    text,
  );
}

function wrapped(text, width, most, size) {
  const fits = measure(width, `600 ${size}px ${FONT}`),
    lines = linesOf(text, fits);
  if (lines.length > most) lines.splice(most - 1, lines.length, lines.slice(most - 1).join(" "));
  return lines.map((line) => cut(line, fits));
}

// Name, and below it a second line, and the value or the badge, as far as there is room.
function boxLabel(group, block, x, y, width, height) {
  if (height < 13 || width < 26) return;
  const small = width < 120,
    pad = small ? 6 : 10,
    size = small ? 11 : NAME_FONT,
    line = size + 3.5;
  if (block.folded) {
    const room = measure(width - 2 * pad, `${size}px ${FONT}`),
      both = !small && block.sub && room(`${block.name}   ${block.sub}`),
      middle = y + height / 2 + size * 0.35;
    writeLine(group, room(block.name) ? block.name : cut(block.short, room), x + pad, middle, size, {
      muted: true,
      bold: true,
    });
    if (both) writeLine(group, block.sub, x + width - pad, middle, size - 0.5, { muted: true, anchor: "end" });
    return;
  }
  const aside = block.badge ? 24 : block.value && width > 110 ? widthOf(block.value, `${size - 1}px ${FONT}`) + 8 : 0;
  const tall = height >= 62,
    sub = height >= 36 && block.sub && !block.strip && block.x > 0;
  const beside = tall ? 0 : aside,
    most = Math.max(1, Math.min(4, Math.floor((height - 6 - (sub ? line : 0)) / line)));
  const lines = wrapped(block.name, Math.max(10, width - 2 * pad - beside), block.strip ? 1 : most, size);
  if (lines.every((text) => /^.{0,2}…$/u.test(text))) return; // too little of the name to know it by
  const total = lines.length + (sub ? 1 : 0);
  let baseline = block.strip ? y + 14 : y + height / 2 - ((total - 1) * line) / 2 + size * 0.35;
  if (tall && aside && !block.strip) baseline -= 4;
  for (const text of lines) {
    writeLine(group, text, x + pad, baseline, size, { bold: true });
    baseline += line;
  }
  if (sub)
    writeLine(
      group,
      cut(block.sub, measure(width - 2 * pad - (tall ? 0 : aside), `${size - 1}px ${FONT}`)),
      x + pad,
      baseline,
      size - 1,
      { muted: true },
    );
  if (!aside || block.strip) return;
  const low = tall ? y + height - 15 : y + height / 2;
  if (block.badge) badge(group, block.badge, x + width - 15, low);
  else writeLine(group, block.value, x + width - pad, low + 4, size - 1, { muted: true, anchor: "end" });
}

function turnedLabel(group, block, x, y, width, height) {
  const cx = x + width / 2,
    cy = y + height / 2,
    size = width < 40 ? 12 : 13.5;
  writeLine(group, cut(block.name, measure(height - 80, `600 ${size}px ${FONT}`)), cx + size * 0.35, cy, size, {
    bold: true,
    anchor: "middle",
    turn: -90,
  });
  if (block.badge) badge(group, block.badge, cx, y + height - 18);
  else if (block.value)
    writeLine(group, cut(block.value, measure(width - 4, `11px ${FONT}`)), cx, y + height - 12, 11, {
      muted: true,
      anchor: "middle",
    });
}

function drawIcicle(data, width, drawn) {
  const places = columnPlaces(width, data.columns.length),
    last = data.columns.length - 1;
  for (const block of data.blocks) {
    const place = places[block.x],
      box = { x: place.x, y: block.y, width: place.width, height: block.height };
    drawn(
      block,
      (parent) => make("rect", { ...box, rx: Math.min(3, box.height / 4) }, parent),
      (group) =>
        (block.x === 0 && last > 0 ? turnedLabel : boxLabel)(group, block, box.x, box.y, box.width, box.height),
    );
    if (block.x !== last - 1 || block.folded) continue;
    const column = places[last];
    for (const { cell, ...inner } of cellBoxes(block, data, column.x, block.y, column.width, block.height)) {
      const shown = cell.rest
        ? restOf(block, cell.rest, data)
        : {
            ...cell,
            about:
              cell.about ||
              data.words.entity.replace("{name}", cell.name).replace("{type}", cell.type || data.words.no_type),
          };
      drawn(
        { ...shown, x: last, parent: block.id, layer: block.layer - 1 },
        (parent) => make("rect", { ...inner, rx: 2 }, parent),
        (group) => cellLabel(group, shown, inner),
      );
    }
  }
}

function restOf(block, n, data) {
  const count = n.toLocaleString(data.language);
  return {
    id: `more:${block.layer - 1}:${block.id}`,
    name: `+${count}`,
    folded: n,
    about: data.words.more_cells.replace("{count}", count).replace("{name}", block.name),
  };
}

function cellLabel(group, cell, box) {
  const pad = Math.min(CELL_PAD, box.width / 6),
    baseline = box.y + box.height / 2 + 4;
  const aside = cell.badge ? 20 : cell.value && box.width > 70 ? widthOf(cell.value, `10.5px ${FONT}`) + 6 : 0;
  const text = cut(cell.name, measure(box.width - 2 * pad - aside, CELL_FONT));
  if (!/^.{0,1}…$/u.test(text))
    writeLine(group, text, box.x + pad, baseline, 11.5, { muted: Boolean(cell.folded), bold: Boolean(cell.badge) });
  if (cell.badge && box.width > 30) badge(group, cell.badge, box.x + box.width - 11, box.y + box.height / 2);
  else if (aside) writeLine(group, cell.value, box.x + box.width - pad, baseline, 10.5, { muted: true, anchor: "end" });
}

function drawTreemap(data, width, drawn) {
  for (const block of data.blocks) {
    const gap = 1.5,
      box = {
        x: block.x * width + gap / 2,
        y: block.y + gap / 2,
        width: Math.max(1, block.width * width - gap),
        height: Math.max(1, block.height - gap),
      };
    drawn(
      block,
      (parent) => make("rect", { ...box, rx: Math.min(3, box.height / 4) }, parent),
      (group) => boxLabel(group, { ...block, x: 1 }, box.x, box.y, box.width, box.height),
    );
  }
}

function drawSunburst(data, width, drawn) {
  const radius = Math.min(width, data.height) / 2 - 4,
    cx = width / 2,
    cy = data.height / 2,
    rings = data.columns.length;
  const hole = rings > 1 ? radius * 0.24 : radius,
    step = rings > 1 ? (radius - hole) / (rings - 1) : 0;
  const at = (degrees, r) => [
    cx + r * Math.sin((degrees * Math.PI) / 180),
    cy - r * Math.cos((degrees * Math.PI) / 180),
  ];
  for (const block of data.blocks) {
    if (block.x === 0) {
      drawn(
        block,
        (parent) => make("circle", { cx, cy, r: hole - 2 }, parent),
        (group) => boxLabel(group, block, cx - hole * 0.82, cy - hole * 0.6, hole * 1.64, hole * 1.2),
      );
      continue;
    }
    const inner = hole + (block.x - 1) * step,
      outer = inner + step - 2,
      pad = Math.min(0.35, block.height / 6),
      from = block.y + pad,
      to = block.y + Math.min(block.height, 359.98) - pad,
      large = to - from > 180 ? 1 : 0;
    const [a, b, c, d] = [at(from, inner), at(from, outer), at(to, outer), at(to, inner)].map((point) =>
      point.map((value) => value.toFixed(2)).join(","),
    );
    const path = `M${a}L${b}A${outer},${outer} 0 ${large} 1 ${c}L${d}A${inner},${inner} 0 ${large} 0 ${a}Z`;
    drawn(
      block,
      (parent) => make("path", { d: path }, parent),
      (group) => {
        const middle = (from + to) / 2,
          [x, y] = at(middle, (inner + outer) / 2),
          high = ((((to - from) * Math.PI) / 180) * (inner + outer)) / 2;
        if (high < 12) return;
        const size = Math.min(12, high - 1),
          flip = middle > 180,
          text = block.folded ? block.short : block.badge ? `${block.name} · ${block.badge}` : block.name;
        // Lines follow the ring where the block is wider than the ring, lie flat where they can, else point outward.
        const along = high > 52 && high > step,
          flat = high > 52 && !along,
          mid = (inner + outer) / 2;
        const reach = along
          ? Math.min(high * 0.85, 2 * Math.sqrt(outer ** 2 - Math.min(outer, mid + 24) ** 2))
          : step - (flat ? 10 : 14);
        const most = along ? 3 : Math.max(1, Math.min(flat ? 4 : 3, Math.floor((high - 2) / (size + 2))));
        const turn = along
          ? middle + (middle > 90 && middle < 270 ? 180 : 0)
          : flat
            ? 0
            : middle - 90 + (flip ? 180 : 0);
        const lines = block.folded
          ? [cut(text, measure(reach, `600 ${size}px ${FONT}`))]
          : wrapped(text, reach, most, size);
        if (lines.every((line) => /^.{0,2}…$/u.test(line))) return;
        lines.forEach((line, place) =>
          writeLine(group, line, x, y + (place - (lines.length - 1) / 2) * (size + 2) + size * 0.35, size, {
            bold: !block.folded,
            muted: Boolean(block.folded),
            anchor: "middle",
          }).setAttribute("transform", `rotate(${turn} ${x} ${y})`),
        );
      },
    );
  }
}
