// Drawings made of shapes, each in several widths: the widest that fits is shown, and grows a little to fill the room.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-drawing");
  const drawn = JSON.stringify(data.drawings);
  if (host.dataset.drawn !== drawn) {
    host.dataset.drawn = drawn;
    host.replaceChildren(...data.drawings.map(picture));
  }
  const fit = () => {
    const room = host.clientWidth;
    if (!room) return;
    let best = 0;
    data.drawings.forEach((drawing, place) => { if (drawing.width <= room) best = place; });
    [...host.children].forEach((svg, place) => { svg.style.display = place === best ? "block" : "none"; });
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
    const svg = make("svg", { viewBox: `0 0 ${drawing.width} ${drawing.height}`, role: "img", "aria-label": drawing.label });
    for (const shape of drawing.shapes) {
      const element = make(shape.tag, shape.attributes, svg, shape.text || undefined);
      if (shape.tag === "text") element.style.fontFamily = FONT;
      if (shape.title) element.prepend(make("title", {}, null, shape.title));
    }
    return svg;
  }
}
