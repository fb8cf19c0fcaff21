// A graph while it is built. Dots come where they stay; once there are clusters they glide into them, layer by layer, at
// once for a reader who wants no motion.
const GLIDE = 700; // milliseconds

const isStill = () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches;

function start(host, data) {
  host.replaceChildren();
  const svg = make("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img" }, host);
  host.lrGrown = {
    job: data.job,
    svg,
    rings: make("g", { class: "rings" }, svg),
    lines: make("g", { class: "lines" }, svg),
    dots: make("g", { class: "dots" }, svg),
    nodes: [], // by entity: its dot, where it is, where it came from and where it goes
    edges: [],
    frame: 0,
    state: "",
  };
}

function put(grown, share) {
  for (const node of grown.nodes) {
    node.at = Object.fromEntries(
      ["x", "y", "r"].map((name) => [name, node.from[name] + (node.to[name] - node.from[name]) * share]),
    );
    node.dot.setAttribute("cx", node.at.x.toFixed(1));
    node.dot.setAttribute("cy", node.at.y.toFixed(1));
    node.dot.setAttribute("r", node.at.r.toFixed(1));
  }
  for (const { line, ends } of grown.edges) {
    const [a, b] = ends.map((end) => grown.nodes[end].at);
    line.setAttribute("x1", a.x.toFixed(1));
    line.setAttribute("y1", a.y.toFixed(1));
    line.setAttribute("x2", b.x.toFixed(1));
    line.setAttribute("y2", b.y.toFixed(1));
  }
}

function glide(grown) {
  cancelAnimationFrame(grown.frame);
  for (const node of grown.nodes) node.from = node.at;
  grown.rings.classList.remove("there");
  const began = performance.now();
  const step = (now) => {
    const part = isStill() ? 1 : Math.max(0, Math.min(1, (now - began) / GLIDE));
    put(grown, part * (2 - part));
    if (part < 1) grown.frame = requestAnimationFrame(step);
    else grown.rings.classList.add("there");
  };
  if (isStill()) step(began + GLIDE);
  else grown.frame = requestAnimationFrame(step);
}

function drawRings(grown, circles, titles) {
  grown.rings.replaceChildren();
  for (let layer = circles.length - 1; layer >= 0; layer--)
    circles[layer].forEach((circle, at) => {
      if (!circle.inside.length) return;
      const fill = `var(--lr-l${Math.min(4, layer + 1)})`;
      const attributes = { cx: circle.x, cy: circle.y, r: circle.r, class: `ring l${layer + 1}`, style: `--c:${fill}` };
      const ring = make("circle", attributes, grown.rings);
      const title = titles[layer]?.[at];
      if (title) make("title", {}, ring, title);
    });
}

export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-growing");
  if (host.lrGrown?.job !== data.job) start(host, data);
  const grown = host.lrGrown;
  grown.svg.setAttribute("aria-label", data.label);
  const { label, ...drawn } = data;
  const state = JSON.stringify(drawn);
  if (state === grown.state) return;
  grown.state = state;
  data.names.slice(grown.nodes.length).forEach((name) => {
    const place = spiralPlace(grown.nodes.length);
    const dot = make("circle", { class: "dot" }, grown.dots);
    make("title", {}, dot, name);
    grown.nodes.push({ dot, at: { ...place, r: 0 }, to: place });
  });
  for (const at of data.gone) grown.nodes[at].to = { ...grown.nodes[at].to, r: 0 };
  grown.lines.replaceChildren();
  grown.edges = data.links.map((ends) => ({ line: make("line", { class: "line" }, grown.lines), ends }));
  if (data.clusters.length) {
    const { dots, circles } = clusteredPlaces(data.clusters);
    dots.forEach((place, at) => {
      if (place) grown.nodes[at].to = place;
    });
    drawRings(grown, circles, data.titles);
  }
  glide(grown);
}
