// Draws the map: points, clusters with a name at their edge, the question with its seeds. Zoom, colour, hovering and
// switches work here; a click on a point goes to Python. The parts beside the figure are in map_panel.js.
const MAP_HEIGHT = 612,
  EDGE = 34,
  STAR = "M0,-12 3.2,-3.8 12,-3.8 5,1.7 7.5,10.5 0,5.4 -7.5,10.5 -5,1.7 -12,-3.8 -3.2,-3.8Z";

function drawMap(figure, data, view) {
  const width = figure.clientWidth || 760,
    height = width < 520 ? 430 : MAP_HEIGHT,
    { words, question } = data;
  const layer = data.layers.find((each) => each.layer === view.colour) || data.layers[0];
  const X = (x) => (EDGE + (x / 1000) * (width - 2 * EDGE) - width / 2) * view.zoom + width / 2 + view.left;
  const Y = (y) => (EDGE + (y / 1000) * (height - 2 * EDGE) - height / 2) * view.zoom + height / 2 + view.top;
  const svg = make("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": `${data.tools.title}. ${data.tools.note}`,
    tabindex: 0,
  });
  make("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6, class: "ground" }, svg);
  const seeds = question && view.seeds ? question.seeds : [],
    star = question ? [X(question.at[0]), Y(question.at[1])] : null;
  const seedAt = movedApart(
    seeds.map((seed) => [X(seed.at[0]), Y(seed.at[1])]),
    star,
  );
  const fade = (place) => (view.lit !== null && place !== view.lit ? " faint" : "");
  const regions = layer.clusters.map((cluster) => cluster.regions.map((corners) => cornersOf(corners, X, Y)));
  regions.forEach((shapes, place) => {
    const cloud = make("g", { class: `cloud${fade(place)}`, fill: data.hues[place], stroke: data.hues[place] }, svg);
    for (const corners of shapes) make("path", { d: `M${corners.map(([x, y]) => `${x},${y}`).join(" ")}Z` }, cloud);
  });
  const radius = data.names.length > 700 ? 2.5 : data.names.length > 150 ? 3.2 : 4.5;
  const points = make("g", {}, svg);
  data.x.forEach((x, n) => {
    const place = layer.of[n],
      dim = data.passing && !data.passing[n];
    make(
      "circle",
      {
        cx: X(x),
        cy: Y(data.y[n]),
        r: radius,
        class: `point${dim ? " dim" : fade(place)}`,
        fill: place < 0 ? "var(--lr-tree)" : data.hues[place],
      },
      points,
    );
  });
  for (const match of data.matches)
    make("circle", { cx: X(match.at[0]), cy: Y(match.at[1]), r: 7, class: "match" }, svg);
  if (data.chosen) make("circle", { cx: X(data.chosen.at[0]), cy: Y(data.chosen.at[1]), r: 9, class: "chosen" }, svg);
  const taken = seedAt.map((/** @type {number[]} */ [x, y]) => [x - 13, y - 13, x + 13, y + 13]);
  const notes = wrap(words.not_cosine, width - 32, 2, `12px ${FONT}`);
  taken.push([0, 0, width, 15 + 15 * notes.length]); // where the figure says what distance is not
  if (question && view.seeds) drawQuestion(svg, question, seeds, seedAt, star, view, taken, words);
  const unnamed = nameClusters(svg, layer.clusters, { regions, X, Y, width, height, taken, data, fade });
  notes.forEach((line, n) => make("text", { x: 16, y: 22 + 15 * n, class: "said", "font-size": 12 }, svg, line));
  figure.querySelector("svg")?.remove();
  figure.prepend(svg);
  return { svg, X, Y, width, height, seedAt, layer, unnamed };
}

// Seeds that would cover each other or the question, a little farther apart.
function movedApart(places, star) {
  for (let round = 0; round < 24; round += 1) {
    places.forEach((one, n) =>
      [...places.slice(0, n), ...(star ? [[...star]] : [])].forEach((other) => {
        const dx = one[0] - other[0] || 0.5,
          dy = one[1] - other[1] || 0.5,
          far = Math.hypot(dx, dy),
          gap = 24 - far;
        if (gap <= 0) return;
        for (const [place, sign] of [
          [one, 0.5],
          [other, -0.5],
        ]) {
          place[0] += (sign * gap * dx) / far;
          place[1] += (sign * gap * dy) / far;
        }
      }),
    );
  }
  return places;
}

function drawQuestion(svg, question, seeds, seedAt, star, view, taken, words) {
  const [qx, qy] = star;
  if (view.links) for (const [x, y] of seedAt) make("line", { x1: qx, y1: qy, x2: x, y2: y, class: "link" }, svg);
  seeds.forEach((seed, place) => {
    const [x, y] = seedAt[place],
      group = make(
        "g",
        { class: `seed${seed.cut ? " cut" : ""}${view.pointed === place ? " pointed" : ""}`, "data-seed": place },
        svg,
      );
    make("circle", { cx: x, cy: y, r: 12, class: "ring" }, group);
    make("circle", { cx: x, cy: y, r: 9, class: "disc" }, group);
    make(
      "text",
      { x, y: y + 3.8, "text-anchor": "middle", "font-size": seed.rank > 99 ? 8.5 : 10.5 },
      group,
      `${seed.rank}`,
    );
  });
  make("path", { d: STAR, transform: `translate(${qx} ${qy})`, class: "star" }, svg);
  taken.push([qx - 14, qy - 14, qx + 14, qy + 14]);
  drawLabel(
    { x: qx, y: qy, radius: 12, name: words.the_question, font: `650 12.5px ${FONT}`, size: 12.5, look: "strong" },
    taken,
    null,
    svg,
  );
}

function drawLegend(parent, data) {
  const box = makeElement("div", "legend", parent),
    { words } = data;
  if (data.question) {
    makeEntry(box, "star", words.the_question);
    makeEntry(box, "disc", words.seed);
    makeEntry(box, "hollow", words.seed_cut);
    makeEntry(box, "dots", words.link);
  }
  makeEntry(box, "dot", words.drawn);
  makeEntry(box, "region", words.region);
  makeText("span", "unnamed", box, "");
}

function drawTools(bar, data, view, redraw, act) {
  const held = [...bar.querySelectorAll("button,select")].indexOf(document.activeElement);
  bar.replaceChildren();
  const label = makeElement("label", "", bar);
  makeText("span", "muted", label, data.words.colour);
  const select = makeElement("select", "", label);
  for (const layer of data.layers) makeElement("option", "", select, layer.title).value = layer.layer;
  select.value = view.colour;
  select.onchange = () => {
    view.colour = Number(select.value);
    redraw(true);
    act("colour", select.value);
  };
  const toggle = (name, text) => {
    const button = makeButton("pill", bar, text, () => {
      view[name] = !view[name];
      button.setAttribute("aria-pressed", String(view[name]));
      redraw();
    });
    button.setAttribute("aria-pressed", String(view[name]));
  };
  if (data.question) {
    toggle("seeds", data.words.question_and_seeds);
    toggle("links", data.words.links);
  }
  const zooms = makeElement("span", "zooms", bar),
    share = (step) => () => {
      zoomBy(view, step);
      redraw();
    };
  for (const [text, title, run] of [
    ["−", data.words.zoom_out, share(0.8)],
    [
      `${Math.round(view.zoom * 100)} %`,
      data.words.whole,
      () => {
        Object.assign(view, { zoom: 1, left: 0, top: 0 });
        redraw();
      },
    ],
    ["+", data.words.zoom_in, share(1.25)],
  ]) {
    makeButton("pill", zooms, text, run).title = title;
    zooms.lastChild.setAttribute("aria-label", title);
  }
  if (held >= 0) bar.querySelectorAll("button,select")[held]?.focus(); // they were made anew
}

function zoomBy(view, step) {
  const zoom = Math.min(12, Math.max(1, view.zoom * step)),
    grown = zoom / view.zoom;
  Object.assign(view, { zoom, left: zoom === 1 ? 0 : view.left * grown, top: zoom === 1 ? 0 : view.top * grown });
}

function follow(figure, data, view, drawn, act, redraw) {
  const card = figure.querySelector(".card"),
    { svg, X, Y } = drawn;
  const nearest = (event) => {
    const box = svg.getBoundingClientRect(),
      x = event.clientX - box.left,
      y = event.clientY - box.top;
    const seed = drawn.seedAt.findIndex(([sx, sy]) => Math.hypot(sx - x, sy - y) < 13);
    if (seed >= 0) return { seed };
    let best = null,
      least = 9;
    data.x.forEach((px, n) => {
      const far = Math.hypot(X(px) - x, Y(data.y[n]) - y);
      if (far < least) {
        least = far;
        best = n;
      }
    });
    return { point: best };
  };
  svg.onmousemove = (event) => {
    if (view.dragged) return;
    const { seed, point } = nearest(event),
      { words } = data;
    svg.style.cursor = seed !== undefined || point !== null ? "pointer" : "grab";
    if (seed === undefined && point === null) {
      card.hidden = true;
      return;
    }
    const found = seed !== undefined ? data.question.seeds[seed] : null,
      cluster = found ? null : drawn.layer.clusters[drawn.layer.of[point]];
    const lines = found
      ? [
          found.name,
          withCommas(`${words.seed_rank} ${found.rank}`, found.cut && words.seed_cut),
          `${words.score} ${found.score ?? "–"}`,
        ]
      : [data.names[point], data.typeNames[data.types[point]], cluster?.name].filter(Boolean);
    mapCard(
      card,
      lines,
      found ? drawn.seedAt[seed] : [X(data.x[point]), Y(data.y[point])],
      [drawn.width, drawn.height],
      drawn.seedAt,
    );
  };
  svg.onmouseleave = () => {
    card.hidden = true;
  };
  svg.onclick = (event) => {
    if (view.dragged) {
      view.dragged = false;
      return;
    }
    const { seed, point } = nearest(event);
    if (seed !== undefined) act("go", data.question.seeds[seed].id);
    else if (point !== null) act("point", String(point));
  };
  svg.onpointerdown = (event) => {
    const from = [event.clientX - view.left, event.clientY - view.top];
    view.dragged = false;
    const move = (now) => {
      if (
        view.zoom === 1 ||
        (!view.dragged && Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY) < 4)
      )
        return;
      Object.assign(view, { dragged: true, left: now.clientX - from[0], top: now.clientY - from[1] });
      redraw();
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", () => window.removeEventListener("pointermove", move), { once: true });
  };
  svg.onwheel = (event) => {
    if (event.ctrlKey || event.shiftKey || figure.contains(document.activeElement)) {
      event.preventDefault();
      zoomBy(view, event.deltaY < 0 ? 1.15 : 0.87);
      redraw();
    }
  };
  svg.onkeydown = (event) => {
    const way = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] }[event.key];
    if (way && view.zoom > 1) {
      view.left += way[0];
      view.top += way[1];
    } else if (event.key === "+" || event.key === "=") zoomBy(view, 1.25);
    else if (event.key === "-") zoomBy(view, 0.8);
    else if (event.key === "0") Object.assign(view, { zoom: 1, left: 0, top: 0 });
    else return;
    event.preventDefault();
    redraw();
    figure.querySelector("svg").focus();
  };
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component,
    host = parentElement.querySelector(".lr-map");
  const { colour, ...rest } = data,
    drawing = JSON.stringify(rest);
  if (host.lrDrawing === drawing) return undefined; // a colour that was chosen here comes back by the link
  host.lrDrawing = drawing;
  const view = (host.lrView ??= { zoom: 1, left: 0, top: 0, seeds: true, links: true });
  Object.assign(view, { colour, lit: null, pointed: null, dragged: false });
  const act = (what, value) => setTriggerValue("acted", JSON.stringify({ do: what, value, at: Date.now() }));
  host.replaceChildren();
  const tools = makeElement("div", "tools", host),
    grid = makeElement("div", `grid${data.panel ? "" : " alone"}`, host);
  const left = makeElement("div", "left", grid),
    figure = makeElement("div", "figure", left),
    panel = data.panel ? makeElement("div", "panel", grid) : null;
  makeElement("div", "card", figure).hidden = true;
  drawLegend(left, data);
  let drawn;
  const redraw = (all) => {
    drawn = drawMap(figure, data, view);
    follow(figure, data, view, drawn, act, redraw);
    const unnamed = left.querySelector(".legend .unnamed");
    unnamed.hidden = !drawn.unnamed;
    unnamed.textContent = data.words.unnamed.replace("{n}", drawn.unnamed);
    drawTools(tools, data, view, redraw, act);
    if (all && panel)
      mapPanel(data, drawn.layer, panel, act, {
        light: (place) => {
          view.lit = place;
          drawn = drawMap(figure, data, view);
          follow(figure, data, view, drawn, act, redraw);
        },
        point: (place) => {
          view.pointed = place;
          drawn = drawMap(figure, data, view);
          follow(figure, data, view, drawn, act, redraw);
        },
      });
  };
  redraw(true);
  const table = makeElement("div", "table", left);
  figureTools(left, {
    ...data.tools,
    asTable: () => mapTable(data, drawn.layer, table, act, () => table.replaceChildren()),
    picture: () => figure.querySelector("svg"),
  });
  return watchWidth(figure, redraw);
}
