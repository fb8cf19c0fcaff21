// The graph in layers: draws the layout that fits, and what a person does in the picture. Zoom, hiding, clouds and
// hovering change the picture here; what needs other nodes is asked of the page by the trigger "act".
const MOST_ZOOM = 8,
  DOUBLE_CLICK = 230; // ms in which a second click may come before a box opens

// The whole graph names its nodes by their positions, to be short.
function withNodes(data) {
  if (!data.named) return data;
  return {
    ...data,
    nodes: data.named.map(([at, name, layer, hops]) => ({ id: `#${at}`, at, name, layer, hops, rank: at })),
  };
}

export default function (component) {
  const { parentElement, setTriggerValue } = component,
    data = withNodes(component.data);
  const root = parentElement.querySelector(".lr-lg"),
    figure = root.querySelector(".lr-lg-figure");
  const own = (root.lrState ??= {
    k: 1,
    x: 0,
    y: 0,
    hidden: new Set(data.hidden),
    order: [...data.hidden],
    clouds: true,
    listed: false,
  });
  if (own.focus !== data.focus_id || own.detail !== data.detail)
    Object.assign(own, { focus: data.focus_id, detail: data.detail, k: 1, x: 0, y: 0 });
  own.picked = data.picked;
  const state = { root, figure, own, data, scene: null, setTriggerValue, redraw, ask, hide, undo, zoom };
  root.setAttribute("data-detail", data.detail);
  bar(state);
  redraw();
  chosenNode(state);
  legend(state);
  nodeList(state);
  const drawn = data.all ? data.nodes : [...state.scene.at.values()];
  const note = data.tools.note
    .replace("{shown}", (data.drawn ?? drawn.length).toLocaleString("en"))
    .replace("{lit}", drawn.filter((node) => node.hops < 3).length);
  figureTools(root, {
    ...data.tools,
    note,
    asTable: () => {
      own.listed = !own.listed;
      nodeList(state);
      if (own.listed) root.querySelector(".lr-lg-list button")?.focus();
    },
    picture: (theme) => (data.all ? canvasPicture(state, theme) : figure.querySelector("svg")),
  });
  figure.onkeydown = (event) => keys(event);
  figure.onpointerover = (event) => point(event.target.closest?.(".node,.relation,.arc"));
  figure.onpointerleave = () => point(null);
  gestures(state);
  return watchWidth(figure, redraw, 4);

  function redraw() {
    const width = figure.clientWidth || 700,
      small = width < 520;
    if (data.all) {
      drawAll(state, width);
      return;
    }
    const layout = data.layouts.filter((each) => each.width <= Math.max(width + 40, data.layouts[0].width)).pop();
    const stretch = width / layout.width,
      { k } = own;
    own.x = Math.min(0, Math.max(width * (1 - k), own.x));
    own.y = Math.min(0, Math.max(layout.height * (1 - k), own.y));
    const view = {
      k,
      stretch,
      width,
      height: layout.height,
      small,
      hidden: own.hidden,
      clouds: own.clouds,
      picked: own.picked,
      search: data.search,
      pills: [],
      X: (x) => x * stretch * k + own.x,
      Y: (y) => y * k + own.y,
    };
    const held = focusedIn(figure).id;
    const svg = make("svg", {
      width,
      height: layout.height,
      viewBox: `0 0 ${width} ${layout.height}`,
      role: "group",
      "aria-label": data.label,
    });
    const filter = make(
      "filter",
      { id: "lr-lg-soft", x: "-20%", y: "-20%", width: "140%", height: "140%" },
      make("defs", {}, svg),
    );
    make("feGaussianBlur", { stdDeviation: 5 }, filter);
    state.scene = drawScene(svg, data, layout, view);
    svg.style.touchAction = k > 1 ? "none" : "pan-y";
    figure.replaceChildren(svg);
    for (const node of svg.querySelectorAll(".node")) node.onclick = (event) => click(node, event);
    const nodes = [...svg.querySelectorAll(".node[data-id]")];
    const start =
      nodes.find((node) => node.dataset.id === (held || own.picked)) ??
      nodes.find((node) => node.classList.contains("focus")) ??
      nodes[0];
    start?.setAttribute("tabindex", "0");
    if (held) start?.focus({ preventScroll: true });
  }

  // A box opens after the time in which a second click would centre it; an entity is chosen at once.
  function click(node, event) {
    if (own.dragged) return;
    const { act } = node.dataset,
      id = node.dataset.id ?? node.dataset.of;
    clearTimeout(own.waiting);
    if (event.detail > 1 && act === "pick") {
      ask("centre", id);
      return;
    }
    if (act === "pick") mark(id);
    if (act !== "pick" || node.classList.contains("dot")) ask(act, id);
    else own.waiting = setTimeout(() => ask("pick", id), DOUBLE_CLICK);
  }

  function mark(id) {
    own.picked = id;
    for (const node of figure.querySelectorAll(".node[data-act=pick]"))
      node.classList.toggle("picked", node.dataset.id === id);
    chosenNode(state);
  }

  function ask(kind, id) {
    setTriggerValue("act", { kind, id });
  }

  function hide(id) {
    if (id === data.focus_id || !id) return;
    own.hidden.add(id);
    own.order.push(id);
    hiddenChanged();
  }

  function undo() {
    own.hidden.delete(own.order.pop());
    hiddenChanged();
  }

  function hiddenChanged() {
    redraw();
    bar(state);
    chosenNode(state);
    nodeList(state);
    setTriggerValue("hidden", [...own.hidden]);
  }

  function zoom(factor, x, y) {
    const height = figure.clientHeight,
      width = figure.clientWidth,
      k = Math.min(MOST_ZOOM, Math.max(1, own.k * factor));
    const [px, py] = [x ?? width / 2, y ?? height / 2],
      ratio = k / own.k;
    Object.assign(own, { k, x: px - (px - own.x) * ratio, y: py - (py - own.y) * ratio });
    if (factor === 0) Object.assign(own, { k: 1, x: 0, y: 0 });
    own.moved = performance.now();
    frame(state);
  }

  function keys(event) {
    const node = event.target.closest?.(".node"),
      id = node?.dataset.id;
    const open = () => {
      if (id) mark(id);
      if (node) ask(node.dataset.act, id ?? node.dataset.of);
    };
    const act = {
      Enter: open,
      " ": open,
      h: () => {
        const next = node?.nextElementSibling ?? node?.previousElementSibling;
        hide(id);
        if (next?.dataset.id) figure.querySelector(`.node[data-id="${CSS.escape(next.dataset.id)}"]`)?.focus();
      },
      p: () => id && ask("pin", id),
      c: () => id && ask("centre", id),
      u: () => own.order.length && undo(),
      "+": () => zoom(1.4),
      "=": () => zoom(1.4),
      "-": () => zoom(1 / 1.4),
      0: () => zoom(0),
    }[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (act && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      act();
    } else walkNodes(figure, event);
  }

  // What the pointer is on, with its own lines, is brought out; nothing is asked of the page.
  function point(element) {
    const id = element?.dataset.node ?? "",
      on = Boolean(element) && (id !== "" || element.dataset.a);
    figure.classList.toggle("lr-lg-pointing", Boolean(on && id !== ""));
    for (const line of figure.querySelectorAll("[data-a]"))
      line.classList.toggle(
        "hot",
        on && (line === element || (id !== "" && (line.dataset.a === id || line.dataset.b === id))),
      );
    figure.querySelector(".lr-lg-hover")?.remove();
    const node = id !== "" && state.scene?.at.get(Number(id));
    if (!node || node.h || figure.querySelector(`.lr-lg-labels [data-node="${id}"]`)) return;
    const side = node.x > figure.clientWidth / 2 ? -1 : 1;
    const text = writeName(
      "halo lr-lg-hover",
      {
        x: node.x + side * 13,
        y: node.y + 4,
        "text-anchor": side > 0 ? "start" : "end",
        style: `font:600 12.5px ${FONT}`,
      },
      figure.querySelector("svg"),
      node.name,
    );
    text.style.pointerEvents = "none";
  }
}
