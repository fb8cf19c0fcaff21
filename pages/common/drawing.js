// Drawings made of shapes, each in several widths: the widest that fits is shown, and grows a little to fill the room.
// A shape that can be picked is a button, by mouse and by keyboard. Where a drawing can be brushed, a box drawn with the
// mouse reports the shapes in it.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-drawing");
  const drawn = JSON.stringify(data.drawings);
  if (host.dataset.drawn !== drawn) {
    host.dataset.drawn = drawn;
    const focused = focusedIn(host).pick;
    host.replaceChildren(...data.drawings.map(picture));
    if (focused)
      requestAnimationFrame(() =>
        [...host.querySelectorAll(".pick")]
          .find((each) => each.dataset.pick === focused && each.checkVisibility())
          ?.focus(),
      );
  }
  const fit = () => {
    const room = host.clientWidth;
    if (!room) return;
    let best = 0;
    data.drawings.forEach((drawing, place) => {
      if (drawing.width <= room) best = place;
    });
    [...host.children].forEach((svg, place) => {
      svg.style.display = place === best ? "block" : "none";
    });
    const { width, height } = data.drawings[best];
    const scale = Math.min(room / width, data.most || 1.25);
    host.children[best].setAttribute("width", width * scale);
    host.children[best].setAttribute("height", height * scale);
  };
  const observer = new ResizeObserver(fit);
  observer.observe(host);
  fit();
  host.classList.toggle("brush", Boolean(data.brush));
  host.onpointerdown = data.brush ? brush : null;
  return () => observer.disconnect();

  function picture(drawing) {
    const svg = make("svg", {
      viewBox: `0 0 ${drawing.width} ${drawing.height}`,
      role: drawing.shapes.some((shape) => shape.pick) ? "group" : "img",
      "aria-label": drawing.label,
    });
    for (const shape of drawing.shapes) {
      const element = make(shape.tag, shape.attributes, svg, shape.text || undefined);
      if (shape.tag === "text") element.style.fontFamily = FONT;
      if (shape.title) element.prepend(make("title", {}, null, shape.title));
      if (shape.pick) pickable(element, shape);
    }
    return svg;
  }

  function pickable(element, shape) {
    const pick = () => {
      if (!host.dataset.brushed) setTriggerValue("picked", shape.pick);
    };
    makePickable(element, { "aria-pressed": String(shape.isPicked), "aria-label": shape.title }, pick);
    element.classList.add("pick");
    element.dataset.pick = shape.pick;
  }

  // A finger scrolls the page, so that it picks by a tap alone.
  function brush(start) {
    const svg = start.target.closest("svg");
    if (!svg || start.button !== 0 || start.pointerType === "touch") return;
    let box = null;
    const move = (event) => {
      if (!box && Math.hypot(event.clientX - start.clientX, event.clientY - start.clientY) < LEAST_DRAG) return;
      event.preventDefault();
      box ??= make("rect", { class: "brushing" }, svg);
      const matrix = svg.getScreenCTM().inverse();
      const [a, b] = [start, event].map((each) => new DOMPoint(each.clientX, each.clientY).matrixTransform(matrix));
      const place = { x: Math.min(a.x, b.x), y: Math.min(a.y, b.y) };
      const size = { width: Math.abs(a.x - b.x), height: Math.abs(a.y - b.y) };
      for (const [name, value] of Object.entries({ ...place, ...size })) box.setAttribute(name, String(value));
    };
    const end = (event) => {
      document.removeEventListener("pointermove", move);
      document.removeEventListener("pointerup", end);
      document.removeEventListener("pointercancel", end);
      if (!box) return;
      box.remove();
      if (event.type !== "pointerup") return;
      host.dataset.brushed = "1"; // the click that follows belongs to the box
      setTimeout(() => delete host.dataset.brushed);
      const edges = insideOf(start, event);
      const within = [...svg.querySelectorAll(".pick")].filter((each) => touches(each, edges));
      setTriggerValue(
        "brushed",
        within.map((each) => each.dataset.pick),
      );
    };
    document.addEventListener("pointermove", move);
    document.addEventListener("pointerup", end);
    document.addEventListener("pointercancel", end);
  }
}

const LEAST_DRAG = 5; // px, from which a press is no click
const SAMPLES = 60; // points of a line that are looked at

/** The box between two places of the pointer, in pixels of the window. */
function insideOf(a, b) {
  return {
    left: Math.min(a.clientX, b.clientX),
    right: Math.max(a.clientX, b.clientX),
    top: Math.min(a.clientY, b.clientY),
    bottom: Math.max(a.clientY, b.clientY),
  };
}

/** Whether a line passes through the box, or the middle of another shape lies in it. */
function touches(element, edges) {
  const holds = (x, y) => x >= edges.left && x <= edges.right && y >= edges.top && y <= edges.bottom;
  if (element.tagName === "path") {
    const [length, matrix] = [element.getTotalLength(), element.getScreenCTM()];
    return Array.from({ length: SAMPLES + 1 }, (_, place) => {
      const point = element.getPointAtLength((length * place) / SAMPLES);
      return new DOMPoint(point.x, point.y).matrixTransform(matrix);
    }).some((point) => holds(point.x, point.y));
  }
  const bounds = element.getBoundingClientRect();
  return holds((bounds.left + bounds.right) / 2, (bounds.top + bounds.bottom) / 2);
}
