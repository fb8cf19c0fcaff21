// The beginning of a document with its chunks: tinted in turn, numbered where they begin, what two share underlined.
// The slider changes the size here, without asking the server.
function element(tag, className, text) {
  const made = document.createElement(tag);
  made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function drawn(text, spans) {
  const ends = [...new Set([0, text.length, ...spans.flat()])].sort((a, b) => a - b), pieces = [];
  let from = 0;
  for (let n = 0; n + 1 < ends.length; n++) {
    const start = ends[n], end = ends[n + 1];
    while (from < spans.length && spans[from][1] <= start) from++;
    const inside = [];
    for (let place = from; place < spans.length && spans[place][0] <= start; place++) {
      if (spans[place][1] > start) inside.push(place);
    }
    const begun = inside.find((place) => spans[place][0] === start);
    if (begun !== undefined) {
      const number = element("span", "cut", String(begun + 1));
      number.dir = "ltr";
      pieces.push(number);
    }
    const kind = inside.length > 1 ? "shared" : inside.length ? (inside[0] % 2 ? "odd" : "even") : "";
    pieces.push(element("span", kind, text.slice(start, end)));
  }
  return pieces;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-cuts");
  const before = host.querySelector("input"), chosen = before ? Number(before.value) : data.chosen;
  const row = element("label", "row"), slider = document.createElement("input"), said = element("output", "said");
  slider.type = "range";
  slider.min = 0;
  slider.max = data.sizes.length - 1;
  slider.value = chosen;
  row.append(element("span", "name", data.slider), slider);
  said.setAttribute("aria-live", "polite");
  const body = element("div", "lr-text");
  body.dir = "auto";
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", data.title);
  const use = element("button", "use", data.use);
  use.type = "button";
  use.onclick = () => setTriggerValue("used", Number(slider.value));
  const show = () => {
    const size = data.sizes[slider.value];
    said.textContent = size.said;
    slider.setAttribute("aria-valuetext", size.said);
    body.replaceChildren(...drawn(data.text, size.spans), element("span", "lr-edge", data.more ? ` … ${data.more}` : ""));
  };
  slider.oninput = show;
  show();
  const foot = element("div", "foot");
  foot.append(said, use);
  host.replaceChildren(row, foot, element("div", "legend", data.legend), body);
}
