// Texts to write for each clustersize, on a logarithmic scale: aggregated entities solid, summarised relations dashed.
// The slider moves the mark here; the size goes to the form when it is let go.
const TALL = 96,
  LEFT = 46,
  RIGHT = 12,
  TOP = 8,
  BOTTOM = 18,
  NAMED = [2, 5, 10, 20, 50, 100, 200];

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-effect");
  let wide = 0;
  const fit = () => {
    const here = Math.max(240, host.clientWidth - 26);
    if (Math.abs(here - wide) > 2) draw((wide = here));
  };
  const observer = new ResizeObserver(fit);
  observer.observe(host);
  fit();
  return () => observer.disconnect();

  function draw(room) {
    const focused = host.contains(document.activeElement);
    const most = Math.max(2, ...data.rows.map((row) => Math.max(row[2], row[3])));
    const x = (size) =>
      LEFT + (data.rows.findIndex((row) => row[0] === size) / (data.rows.length - 1)) * (room - LEFT - RIGHT);
    const y = (n) => TALL - BOTTOM - (Math.log(Math.max(1, n)) / Math.log(most)) * (TALL - TOP - BOTTOM);
    const svg = make("svg", { width: room, height: TALL, role: "img" });
    const grey = { fill: "var(--lr-mute)", "font-size": 11, "font-family": FONT };
    for (const n of [1, most]) {
      make("line", { x1: LEFT, x2: room - RIGHT, y1: y(n), y2: y(n), stroke: "var(--lr-line)" }, svg);
      make("text", { ...grey, x: LEFT - 6, y: y(n) + 4, "text-anchor": "end" }, svg, n.toLocaleString("en"));
    }
    for (const size of NAMED)
      make("text", { ...grey, x: x(size), y: TALL - 4, "text-anchor": "middle" }, svg, String(size));
    make(
      "line",
      { x1: x(20), x2: x(20), y1: TOP, y2: TALL - BOTTOM, stroke: "var(--lr-line)", "stroke-dasharray": "2 3" },
      svg,
    ).append(make("title", {}, null, data.paper));
    const path = (column) =>
      data.rows.map((row, n) => `${n ? "L" : "M"}${x(row[0]).toFixed(1)} ${y(row[column]).toFixed(1)}`).join("");
    make("path", { d: path(2), fill: "none", stroke: "var(--lr-path)", "stroke-width": 2 }, svg);
    make(
      "path",
      { d: path(3), fill: "none", stroke: "var(--lr-inter)", "stroke-width": 2, "stroke-dasharray": "6 4" },
      svg,
    );
    const mark = make("g", {}, svg);
    const head = makeElement("div", "head"),
      slider = makeElement("input", "slide"),
      legend = makeElement("div", "legend");
    makeElement("b", "", head, data.title);
    const said = makeElement("output", "said", head);
    Object.assign(slider, {
      type: "range",
      min: 0,
      max: data.rows.length - 1,
      value: data.rows.findIndex((row) => row[0] === data.size),
    });
    slider.setAttribute("aria-label", data.title);
    for (const [sign, text] of [
      ["solid", data.entities],
      ["dashes", data.relations],
    ]) {
      makeElement("i", sign, legend);
      legend.append(text);
    }
    makeElement("span", "basis", legend, data.basis);
    const show = () => {
      const [size, layers, entities, relations] = data.rows[slider.value];
      const numbers = {
        size,
        layers,
        entities: entities.toLocaleString("en"),
        relations: relations.toLocaleString("en"),
      };
      const sentence = withValues(data.said, numbers);
      said.textContent = sentence;
      svg.setAttribute("aria-label", sentence);
      slider.setAttribute("aria-valuetext", sentence);
      mark.replaceChildren(
        make("line", {
          x1: x(size),
          x2: x(size),
          y1: TOP,
          y2: TALL - BOTTOM,
          stroke: "var(--lr-prim)",
          "stroke-width": 1.5,
        }),
        make("circle", { cx: x(size), cy: y(entities), r: 4.5, fill: "var(--lr-path)" }),
        make("rect", { x: x(size) - 4, y: y(relations) - 4, width: 8, height: 8, fill: "var(--lr-inter)" }),
      );
    };
    slider.oninput = show;
    slider.onchange = () => setTriggerValue("size", data.rows[slider.value][0]);
    show();
    host.replaceChildren(head, svg, slider, legend);
    if (focused) slider.focus();
  }
}
