// Drawings made of shapes, each in several widths: the widest that fits is shown, and grows a little to fill the room.
// A shape that can be picked is a button, by mouse and by keyboard.
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
    const attributes = {
      role: "button",
      tabindex: "0",
      "aria-pressed": String(shape.isPicked),
      "aria-label": shape.title,
    };
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.classList.add("pick");
    element.dataset.pick = shape.pick;
    element.onclick = () => setTriggerValue("picked", shape.pick);
    element.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      setTriggerValue("picked", shape.pick);
    };
  }
}
