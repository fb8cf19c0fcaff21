// The marks of the graph in layers: clouds, links, boxes, discs, bubbles and labels, in this order. `view` says how they
// lie in the window: X and Y turn places of the layout into px, k is the zoom. Marks keep their size at every zoom.
const RADIUS = [10, 6.5, 5, 4];
const LABEL_LETTERS = 28;

function drawScene(svg, data, layout, view) {
  const scene = { data, layout, view, at: new Map(), taken: [], hidden: view.hidden };
  for (const [node, x, y, w, h] of layout.places) {
    if (isHidden(data, node, view.hidden)) continue;
    scene.at.set(node, {
      ...data.nodes[node],
      node,
      x: view.X(x),
      y: view.Y(y),
      w: w * view.stretch * Math.min(view.k, 1.6),
      h,
    });
  }
  drawRows(scene, svg);
  const layers = ["clouds", "links", "marks", "pills", "labels"].map((name) =>
    make("g", { class: `lr-lg-${name}` }, svg),
  );
  if (view.clouds) for (const cloud of layout.clouds) drawCloud(cloud, scene, layers[0]);
  drawTree(scene, layers[1]);
  drawRelations(scene, layers[1], layers[3]);
  for (const bubble of counted(scene)) drawBubble(bubble, scene, layers[2]);
  const order = [...scene.at.values()].sort((a, b) => b.hops - a.hops);
  for (const node of order) drawNode(node, scene, layers[2]);
  drawNames(scene, layers[4]);
  return scene;
}

function isHidden(data, node, hidden) {
  for (let at = node; at !== null && at !== undefined; at = data.nodes[at].parent)
    if (hidden.has(data.nodes[at].id)) return true;
  return false;
}

function drawRows({ layout, view, taken }, svg) {
  layout.bands.forEach((band, place) => {
    const top = view.Y(band.top),
      height = view.Y(band.bottom) - top;
    if (place % 2 === 0) make("rect", { class: "band", x: 0, y: top, width: view.width, height }, svg);
    const y = Math.max(top, Math.min(0, view.Y(band.bottom) - 44)) + 20;
    make("text", { class: "row halo", x: view.small ? 5 : 12, y }, svg, view.small ? `L${band.layer}` : band.label);
    if (!view.small) make("text", { class: "facts halo", x: 12, y: y + 16 }, svg, band.facts);
    pen.font = `12.5px ${FONT}`;
    taken.push(view.small ? [0, y - 14, 26, y + 4] : [0, y - 14, 16 + pen.measureText(band.facts).width, y + 22]);
  });
}

function hue(data, cloud) {
  return data.hues[cloud.hue % data.hues.length];
}

function drawCloud(cloud, { data, view, at }, parent) {
  if (cloud.node >= 0 && !at.has(cloud.node)) return;
  const own = cloud.dots.some((node) => data.nodes[node].hops === 0);
  const group = make(
    "g",
    { class: `cloud${own ? " own" : ""}`, fill: hue(data, cloud), filter: "url(#lr-lg-soft)" },
    parent,
  );
  const k = view.k;
  for (const node of cloud.dots)
    if (at.has(node)) make("circle", { cx: at.get(node).x, cy: at.get(node).y, r: (view.small ? 20 : 25) * k }, group);
  make(
    "ellipse",
    {
      cx: view.X(cloud.x),
      cy: view.Y(cloud.y),
      rx: cloud.radius_x * 0.78 * view.stretch * k,
      ry: cloud.radius_y * 0.72 * k,
    },
    group,
  );
}

function drawTree({ data, layout, at }, parent) {
  const upper = new Set(); // of each cloud, the topmost third carries the faded links
  for (const cloud of layout.clouds) {
    const drawn = cloud.dots.filter((node) => at.has(node)).sort((a, b) => at.get(a).y - at.get(b).y);
    for (const node of drawn.slice(0, Math.max(3, drawn.length / 3))) upper.add(node);
  }
  const lines = [];
  for (const node of at.values()) {
    const above = at.get(node.parent);
    if (!above) continue;
    const lit = node.hops < 3 || node.line,
      path = node.line && above.line;
    if (node.layer === 0 && !lit && !node.picked && !upper.has(node.node)) continue;
    const points = treePoints(
      [above.x, above.y + above.h / 2],
      [node.x, node.y - (node.h ? node.h / 2 : RADIUS[node.hops])],
    );
    const look = path ? "path" : lit && node.hops < 2 ? "lit" : lit || node.layer ? "second" : "faint";
    lines.push([["faint", "second", "lit", "path"].indexOf(look), look, points, node]);
  }
  lines.sort((a, b) => a[0] - b[0]);
  for (const [, look, points, node] of lines)
    make(
      "path",
      { class: `tree ${look}`, d: curve(points, (x) => x), "data-a": node.node, "data-b": node.parent },
      parent,
    );
}

function drawRelations({ data, view, at, taken }, parent, pills) {
  const arcs = data.links.filter((link) => link.layer > 0 && at.has(link.a) && at.has(link.b));
  const between = (link) => Math.abs(at.get(link.a).x - at.get(link.b).x);
  for (const link of arcs.sort((a, b) => between(a) - between(b))) {
    const [a, b] = [at.get(link.a), at.get(link.b)],
      side = Math.sign(b.x - a.x),
      steps = Math.round(between(link) / Math.max(1, (a.w + b.w) / 2 + 12));
    const start = [a.x + side * a.w * 0.25, a.y - a.h / 2],
      end = [b.x - side * b.w * 0.25, b.y - b.h / 2];
    const edge = {
      points: arcPoints(start, end, steps < 2 ? 11 : Math.min(26, 12 + 6 * steps)),
      shape: "arc",
      colour: "inter",
      kind: "inter",
      source: link.a,
      target: link.b,
      lit: true,
      about: link.about,
      pill: true,
      strength: link.s,
    };
    const line = drawEdge(edge, (x) => x, parent);
    line.setAttribute("data-a", link.a);
    line.setAttribute("data-b", link.b);
    line.classList.toggle("aside", !(a.line || b.line));
    const pill = drawPill(edge, (x) => x, pills, view.pills);
    if (pill) {
      const [x, y, w] = view.pills.at(-1);
      taken.push([x - w / 2, y - 9, x + w / 2, y + 9]);
    }
  }
  for (const link of data.links) {
    const a = at.get(link.a),
      b = at.get(link.b);
    if (link.layer > 0 || !a || !b) continue;
    const dx = b.x - a.x,
      dy = b.y - a.y,
      bend = link.hops > 2 ? 0 : 0.12;
    const d = `M${a.x} ${a.y}Q${a.x + dx / 2 - dy * bend} ${a.y + dy / 2 + dx * bend} ${b.x} ${b.y}`;
    const line = make(
      "path",
      { class: `relation hops${Math.min(3, link.hops)}`, d, "data-a": link.a, "data-b": link.b },
      parent,
    );
    make("title", {}, line, link.about);
  }
}

// The bubbles with what is hidden added to them; what is hidden elsewhere gets a bubble of its own.
function counted({ data, layout, view, hidden }) {
  const bubbles = layout.bubbles.map((bubble) => ({ ...bubble })),
    clouds = layout.clouds;
  for (const [node, x, y] of layout.places) {
    if (!isHidden(data, node, hidden)) continue;
    const { parent, layer } = data.nodes[node],
      of = layer === 0 ? parent : null;
    if (layer === 0 && parent !== null && isHidden(data, parent, hidden)) continue;
    const bubble = bubbles.find((each) => each.layer === layer && each.of === of);
    if (bubble) bubble.count += 1;
    else if (layer > 0)
      bubbles.push({ of, layer, count: 1, x: layout.width - (view.small ? 24 : 35), y, closed: false, cloud: null });
    else
      bubbles.push({ of, layer, count: 1, x, y, closed: false, cloud: clouds.findIndex((cloud) => cloud.node === of) });
  }
  return bubbles.filter((bubble) => bubble.of === null || !isHidden(data, bubble.of, hidden));
}

function drawBubble(bubble, { data, layout, view, at, taken }, parent) {
  const x = view.X(bubble.x),
    y = view.Y(bubble.y),
    text = `+${bubble.count.toLocaleString("en")}`,
    half = 10 + text.length * 3.6;
  const asks = bubble.of !== null,
    about = data.words[bubble.closed ? "closed" : asks ? "folded" : "row"].replace(
      "{n}",
      bubble.count.toLocaleString("en"),
    );
  const above = asks ? at.get(bubble.of) : null;
  if (bubble.closed && above)
    make(
      "path",
      { class: "tree faint", d: curve(treePoints([above.x, above.y + above.h / 2], [x, y - 12]), (value) => value) },
      parent,
    );
  const group = make(
    "g",
    {
      class: `bubble${asks ? " node" : ""}`,
      "data-bubble": bubble.of ?? `L${bubble.layer}`,
      "data-count": bubble.count,
    },
    parent,
  );
  const cloud = layout.clouds[bubble.cloud];
  if (cloud) group.style.setProperty("--c", hue(data, cloud));
  make("title", {}, group, above ? withColon(above.name, about) : about);
  make("rect", { class: "ring", x: x - half - 3, y: y - 14.5, width: 2 * half + 6, height: 29, rx: 14 }, group);
  make("rect", { class: "bubble-shape", x: x - half, y: y - 11.5, width: 2 * half, height: 23, rx: 11.5 }, group);
  make("text", { class: "bubble-count", x, y: y + 4 }, group, text);
  taken.push([x - half, y - 12, x + half, y + 12]);
  if (asks) {
    group.setAttribute("role", "button");
    group.setAttribute("tabindex", "-1");
    group.dataset.act = bubble.closed ? "open" : "grow";
    group.dataset.of = data.nodes[bubble.of].id;
  }
}

function drawNode(node, { data, view, taken }, parent) {
  const look = ["focus", "one", "two", "far"][node.hops],
    match = view.search && node.name.toLocaleLowerCase().includes(view.search);
  const group = make(
    "g",
    {
      class: `node ${node.h ? "box" : "dot"} ${look}${node.line ? " line" : ""}${node.id === view.picked ? " picked" : ""}${match ? " match" : ""}`,
      role: "button",
      tabindex: "-1",
      "data-id": node.id,
      "data-node": node.node,
      "data-layer": node.layer,
    },
    parent,
  );
  if (node.h) group.setAttribute("aria-expanded", String(Boolean(node.open)));
  group.dataset.act = "pick";
  make("title", {}, group, node.about);
  paint(group, "path");
  if (node.h) {
    if (node.layer === data.top) {
      group.classList.add("root");
      group.style.setProperty("--c", `var(--lr-l${Math.min(4, node.layer)})`);
      group.style.setProperty("--ink", `var(--lr-l${Math.min(4, node.layer)}k)`);
    }
    make(
      "rect",
      { class: "under", x: node.x - node.w / 2, y: node.y - node.h / 2, width: node.w, height: node.h, rx: 6 },
      group,
    );
    drawBox(
      {
        x: node.x,
        y: node.y,
        width: node.w,
        height: node.h,
        name: node.name,
        kind: "box",
        size: view.small ? 10.5 : 12,
      },
      group,
    );
    taken.push([node.x - node.w / 2, node.y - node.h / 2, node.x + node.w / 2, node.y + node.h / 2]);
  } else {
    const radius = RADIUS[node.hops];
    make("circle", { class: "hit", cx: node.x, cy: node.y, r: 12 }, group);
    drawDisc({ x: node.x, y: node.y, radius, gap: node.hops === 0 ? 5 : 3.5 }, group);
    taken.push([node.x - radius, node.y - radius, node.x + radius, node.y + radius]);
  }
  if (node.pinned) make("path", { class: "pin", d: pinShape(node), "aria-hidden": "true" }, group);
}

// A small pin at the upper right of its mark.
function pinShape(node) {
  const x = node.x + (node.h ? node.w / 2 - 4 : 7),
    y = node.y - (node.h ? node.h / 2 - 2 : 9);
  return `M${x - 4} ${y - 6}h8l-1.500 4 2.500 3h-4.200l-.8 5-.8-5h-4.200l2.500-3z`;
}

// Names by the room there is: focus, first neighbours by strength, clusters, second neighbours, then the rest.
function drawNames({ data, layout, view, at, taken }, parent) {
  const room = [0, 0, view.width, view.height],
    dots = [...at.values()].filter(
      (node) => !node.h && node.x > 0 && node.x < view.width && node.y > 0 && node.y < view.height,
    );
  const label = (node) => {
    const size = node.hops === 0 ? 14.5 : 12.5,
      weight = node.hops === 0 ? 700 : 550;
    const name = node.name.length > LABEL_LETTERS ? `${node.name.slice(0, LABEL_LETTERS - 1).trimEnd()}…` : node.name;
    const text = drawLabel(
      {
        x: node.x,
        y: node.y,
        radius: RADIUS[node.hops] + (node.hops === 0 ? 5 : 0),
        name,
        font: `${weight} ${size}px ${FONT}`,
        size,
        look: ["focus", "one", "two", "far"][node.hops],
      },
      taken,
      room,
      parent,
    );
    if (!text && node.hops === 0) {
      // the layout leaves the place at its right free
      taken.push([node.x + 16, node.y - 12, node.x + 20 + name.length * 7.5, node.y + 6]);
      writeName(
        "halo focus",
        {
          x: node.x + 19,
          y: node.y + 5,
          style: `font:${weight} ${size}px ${FONT}`,
          "data-node": node.node,
          "aria-hidden": "true",
        },
        parent,
        name,
      );
    }
    if (text) {
      text.setAttribute("data-node", node.node);
      text.setAttribute("aria-hidden", "true");
    }
  };
  const ordered = (hops) =>
    dots.filter((node) => node.hops === hops).sort((a, b) => b.pinned - a.pinned || a.rank - b.rank);
  [
    ...ordered(0),
    ...dots.filter((node) => node.hops > 0 && (node.id === view.picked || node.pinned)),
    ...ordered(1),
  ].forEach(label);
  if (view.clouds)
    for (const cloud of layout.clouds)
      if (at.has(cloud.node)) cloudName(cloud, { data, view, at, taken, room }, parent);
  const named = new Set([...parent.querySelectorAll("[data-node]")].map((text) => Number(text.dataset.node)));
  const rest = view.k > 1.25 || data.nodes[data.focus].layer > 0 ? [...ordered(2), ...ordered(3)] : ordered(2);
  rest.filter((node) => !named.has(node.node)).forEach(label);
}

function cloudName(cloud, { data, view, at, taken, room }, parent) {
  const font = `650 13px ${FONT}`,
    reach = cloud.radius_y * view.k,
    most = Math.max(90, 2.1 * cloud.radius_x * view.stretch * view.k);
  const names = [1, 0.66, 0.45].map((share) => cut(at.get(cloud.node).name, measure(share * most, font))),
    widths = names.map((name) => ((pen.font = font), pen.measureText(name).width));
  const middle = { x: view.X(cloud.x), top: view.Y(cloud.y) - reach, bottom: view.Y(cloud.y) + reach };
  const place = cloudNamePlace(middle, widths, taken, room);
  if (!place) return;
  taken.push(place.box);
  const text = writeName(
    "halo cloud-name",
    { x: place.left, y: place.y, style: `font:${font};--c:${hue(data, cloud)}` },
    parent,
    names[place.name],
  );
  text.setAttribute("aria-hidden", "true");
}

// Where the name of a cloud is free: above or below its middle, else beside that, else with fewer letters. widths: of
// the name and its shorter forms, in px. Returns undefined where all is taken.
function cloudNamePlace({ x, top, bottom }, widths, taken, room) {
  for (const [name, width] of widths.entries())
    for (const aside of [0, -0.35, 0.35, -0.7, 0.7])
      for (const y of [top + 2, bottom + 10, top - 14, bottom + 22]) {
        const left = Math.min(Math.max(x + (aside - 0.5) * width, room[0] + 4), room[2] - width - 4),
          box = [left - 2, y - 12, left + width + 2, y + 5];
        const isFree =
          box[1] >= room[1] &&
          box[3] <= room[3] &&
          !taken.some(([l, t, r, b]) => box[0] < r && l < box[2] && box[1] < b && t < box[3]);
        if (isFree) return { name, left, y, box };
      }
  return undefined;
}
