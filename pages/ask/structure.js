// What came by the climb alone, in lists by kind. A mark is held by a click or Enter, one at a time: the answer and the
// figure beside it show what rests on it; Escape lets it go. Texts are set by textContent.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-brought");
  const element = (tag, name, ...content) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    made.append(...content);
    return made;
  };
  const row = (item, colour) => {
    const chip = element("button", "chip", item.mark),
      name = element("div", "");
    chip.type = "button";
    chip.dataset.mark = item.mark;
    chip.title = data.hold;
    chip.setAttribute("aria-label", `${item.mark}: ${item.names.join(", ")}`);
    chip.style.setProperty("--c", `var(--lr-${colour})`);
    const point = (name) => () => tellMarks({ pointed: name });
    chip.onclick = () => tellMarks({ held: MARKS.held === item.mark ? "" : item.mark, pointed: "" });
    [chip.onmouseenter, chip.onmouseleave] = [point(item.mark), point("")];
    item.names.forEach((each, place) => name.append(place ? " – " : "", element("bdi", "", each)));
    name.append(element("small", "", item.reason));
    const line = element("li", "", chip, name);
    line.style.setProperty("--held", `var(--lr-${colour})`);
    return line;
  };
  const list = ({ title, count, colour, rows, more }) => {
    const head = element("div", "lr-label", title, element("span", "", count));
    head.setAttribute("role", "heading");
    head.setAttribute("aria-level", "3");
    const made = element("div", "", head, element("ul", "", ...rows.map((item) => row(item, colour))));
    if (more) made.append(element("div", "more", more));
    return made;
  };
  const drawn = JSON.stringify(data);
  if (host.dataset.drawn !== drawn) {
    host.dataset.drawn = drawn;
    host.replaceChildren(...data.lists.map(list));
  }
  const held = () => {
    for (const chip of host.querySelectorAll(".chip")) {
      chip.setAttribute("aria-pressed", String(chip.dataset.mark === MARKS.held));
      chip.closest("li").classList.toggle("held", chip.dataset.mark === MARKS.held);
    }
  };
  const free = (event) => {
    if (event.key === "Escape" && MARKS.held && !event.defaultPrevented) tellMarks({ held: "" });
  };
  addEventListener("lr-marks", held);
  addEventListener("keydown", free);
  tellMarks({ of: data.of, brought: data.brought, held: MARKS.of === data.of ? MARKS.held : "", pointed: "" });
  return () => {
    removeEventListener("lr-marks", held);
    removeEventListener("keydown", free);
  };
}
