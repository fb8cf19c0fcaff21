// Plays how clusters form: each entity moves towards the middle of its cluster of the next layer, and the clusters then
// towards theirs. Where less motion is asked for, a step is shown at once. Space plays, arrows step, Home and End jump.
const SECONDS = 2.2,
  PAUSE = 1.1,
  MARGIN = 40;
const FIRST_TOGETHER = 0.14,
  TOGETHER = 0.4; // how much of its distance to the middle of its cluster an entity keeps

// (layers + 1) lists of places: those of the map, then drawn together layer by layer.
function stages(data) {
  const all = [data.x.map((x, n) => [x / 1000, data.y[n] / 1000])];
  for (const [layer, of] of data.of.entries()) {
    const keeps = layer ? TOGETHER : FIRST_TOGETHER;
    const before = all[all.length - 1],
      middles = middlesOf(before, of);
    all.push(
      before.map(([x, y], n) => {
        const [mx, my] = middles[of[n]];
        return [mx + (x - mx) * keeps, my + (y - my) * keeps];
      }),
    );
  }
  return all;
}

function middlesOf(places, of) {
  const sums = [];
  places.forEach(([x, y], n) => {
    const sum = (sums[of[n]] ??= [0, 0, 0]);
    sum[0] += x;
    sum[1] += y;
    sum[2] += 1;
  });
  return sums.map(([x, y, count]) => [x / count, y / count]);
}

// How far a cluster reaches: nearly twice the root of the mean square distance, so that a stray does not decide it.
function reachOf(places, of, middles) {
  const squares = middles.map(() => [0, 0]);
  places.forEach(([x, y], n) => {
    const [mx, my] = middles[of[n]],
      sum = squares[of[n]];
    sum[0] += (x - mx) ** 2 + (y - my) ** 2;
    sum[1] += 1;
  });
  return squares.map(([sum, count]) => 1.7 * Math.sqrt(sum / count));
}

const ease = (share) => share * share * (3 - 2 * share);

function scene(figure, data, all, pick) {
  const width = figure.clientWidth || 720,
    height = width < 520 ? 400 : 540;
  const X = (x) => MARGIN + x * (width - 2 * MARGIN),
    Y = (y) => MARGIN + y * (height - 2 * MARGIN);
  const svg = make("svg", {
    width,
    height,
    viewBox: `0 0 ${width} ${height}`,
    role: "group",
    "aria-label": data.tools.title,
  });
  make("rect", { x: 0.5, y: 0.5, width: width - 1, height: height - 1, rx: 6, class: "ground" }, svg);
  const clouds = make("g", {}, svg),
    dots = make("g", {}, svg),
    names = make("g", {}, svg);
  const radius = data.x.length > 700 ? 2.4 : data.x.length > 150 ? 3 : 4.2;
  const circles = data.x.map((_, n) =>
    make(
      "circle",
      {
        r: data.lit[n] ? radius + 2 : radius,
        class: `dot${data.passing && !data.passing[n] ? " dim" : ""}${data.lit[n] ? " lit" : ""}`,
        fill: data.hueOf[n] < 0 ? "var(--lr-tree)" : data.hues[data.hueOf[n]],
      },
      dots,
    ),
  );
  let drawnLayer = null;
  // at: 0 is the map, k the finished layer k; between them entities move.
  function draw(at) {
    const step = Math.min(all.length - 2, Math.floor(at)),
      share = ease(at - step),
      from = all[step],
      to = all[step + 1];
    const now = from.map(([x, y], n) => [x + (to[n][0] - x) * share, y + (to[n][1] - y) * share]);
    now.forEach(([x, y], n) => {
      circles[n].setAttribute("cx", X(x));
      circles[n].setAttribute("cy", Y(y));
    });
    const layer = at - step < 0.02 ? step : step + 1; // whose clusters are outlined
    const key = `${layer}`;
    if (drawnLayer !== key) {
      drawnLayer = key;
      outline(layer);
    }
    if (!layer) return;
    const of = data.of[layer - 1],
      middles = middlesOf(now, of),
      reach = reachOf(now, of, middles);
    const shown = at - step < 0.02 ? 1 : share,
      taken = [];
    for (const cloud of clouds.children) {
      const place = Number(cloud.dataset.at),
        [x, y] = middles[place];
      cloud.setAttribute("cx", X(x));
      cloud.setAttribute("cy", Y(y));
      cloud.setAttribute("r", Math.max(6, reach[place] * Math.min(width, height) * 0.9 + 7));
      cloud.style.opacity = shown;
    }
    names.replaceChildren();
    if (shown < 0.98) return; // names come when their clusters stand
    for (const cluster of data.named[layer - 1]) {
      const [x, y] = middles[cluster.at],
        r = Math.max(6, reach[cluster.at] * Math.min(width, height) * 0.9 + 7);
      drawLabel(
        {
          x: X(x),
          y: Y(y),
          radius: Math.min(r, 60),
          name: cut(cluster.name, measure(190, `600 12.5px ${FONT}`)),
          font: `600 12.5px ${FONT}`,
          size: 12.5,
        },
        taken,
        [4, 4, width - 4, height - 4],
        names,
      );
    }
  }
  function outline(layer) {
    clouds.replaceChildren();
    if (!layer) return;
    const named = new Map(data.named[layer - 1].map((cluster) => [cluster.at, cluster]));
    for (const place of new Set(data.of[layer - 1])) {
      const cluster = named.get(place),
        circle = make("circle", { class: `cloud${cluster ? " named" : ""}`, "data-at": place }, clouds);
      if (!cluster) continue;
      make("title", {}, circle, cluster.name);
      makePickable(circle, { "aria-label": cluster.name }, () => pick(cluster.id));
    }
  }
  figure.querySelector("svg")?.remove();
  figure.prepend(svg);
  return draw;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component,
    host = parentElement.querySelector(".lr-formation");
  const drawing = JSON.stringify(data);
  if (host.lrDrawing === drawing) return undefined;
  host.lrDrawing = drawing;
  cancelAnimationFrame(host.lrTimer);
  host.replaceChildren();
  const { words, frames } = data,
    last = frames.length - 1,
    all = stages(data);
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let at = Math.min(host.lrAt ?? 0, last),
    playing = false,
    since = 0,
    draw;
  const bar = makeElement("div", "bar", host),
    said = makeText("p", "said", host),
    figure = makeElement("div", "figure", host);
  said.setAttribute("aria-live", "polite");
  const button = (sign, title, run) => {
    const made = makeButton("pill", bar, undefined, run);
    makeIcon(made, sign);
    made.title = title;
    made.setAttribute("aria-label", title);
    return made;
  };
  button("skip_previous", words.back, () => jump(Math.ceil(at) - 1));
  const play = button("play_arrow", words.play, () => (playing ? stop() : start()));
  button("skip_next", words.next, () => jump(Math.floor(at) + 1));
  const steps = makeElement("div", "steps", bar);
  steps.setAttribute("role", "group");
  steps.setAttribute("aria-label", words.steps);
  const marks = frames.map((frame, place) => makeButton("step", steps, frame.title, () => jump(place)));
  const scrub = makeElement("input", "scrub", bar);
  Object.assign(scrub, { type: "range", min: 0, max: last, step: 0.01 });
  scrub.setAttribute("aria-label", words.scrub);
  scrub.oninput = () => {
    stop();
    show(still.matches ? Math.round(scrub.value) : Number(scrub.value));
  };

  function show(next) {
    at = host.lrAt = Math.max(0, Math.min(last, next));
    const frame = Math.min(last, Math.ceil(at - 0.02));
    draw(at);
    scrub.value = at;
    scrub.setAttribute("aria-valuetext", frames[frame].title);
    if (said.textContent !== frames[frame].said) said.textContent = frames[frame].said;
    marks.forEach((mark, place) => mark.setAttribute("aria-current", String(place === frame)));
  }
  function jump(to) {
    stop();
    show(Math.max(0, Math.min(last, to)));
  }
  function stop() {
    playing = false;
    cancelAnimationFrame(host.lrTimer);
    play.firstChild.textContent = "play_arrow";
    play.title = words.play;
    play.setAttribute("aria-label", words.play);
  }
  function start() {
    if (at >= last) show(0);
    playing = true;
    play.firstChild.textContent = "pause";
    play.title = words.pause;
    play.setAttribute("aria-label", words.pause);
    since = performance.now() - (at - Math.floor(at)) * SECONDS * 1000;
    let step = Math.floor(at);
    const tick = (now) => {
      if (!host.isConnected) return;
      const gone = (now - since) / 1000;
      if (gone >= SECONDS + PAUSE) {
        step += 1;
        since = now;
        if (step >= last) {
          show(last);
          stop();
          return;
        }
      }
      const share = Math.min(1, (now - since) / 1000 / SECONDS);
      show(still.matches ? step + 1 : step + share);
      if (step + share >= last && share >= 1) {
        stop();
        return;
      }
      host.lrTimer = requestAnimationFrame(tick);
    };
    host.lrTimer = requestAnimationFrame(tick);
  }
  figure.tabIndex = 0;
  figure.setAttribute("role", "group");
  figure.setAttribute("aria-label", data.tools.keys || data.tools.title);
  host.onkeydown = (event) => {
    if (event.target === scrub) return;
    const run = {
      ArrowLeft: () => jump(Math.ceil(at) - 1),
      ArrowRight: () => jump(Math.floor(at) + 1),
      Home: () => jump(0),
      End: () => jump(last),
      " ": event.target.tagName === "BUTTON" ? null : () => (playing ? stop() : start()),
    }[event.key];
    if (!run) return;
    event.preventDefault();
    run();
  };
  const redraw = () => {
    draw = scene(figure, data, all, (id) => setTriggerValue("picked", id));
    show(at);
  };
  redraw();
  const table = makeElement("div", "table", host);
  const asTable = () => {
    if (table.firstChild) {
      table.replaceChildren();
      return;
    }
    const list = makeElement("ol", "", table);
    for (const frame of frames) makeText("li", "", list, `${frame.title}. ${frame.said}`);
  };
  figureTools(host, { ...data.tools, asTable, picture: () => figure.querySelector("svg") });
  const unwatch = watchWidth(figure, redraw);
  return () => {
    unwatch();
    if (!host.isConnected) stop();
  };
}
