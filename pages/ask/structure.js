// What came by the climb alone, in lists by kind. A mark is held by a click or Enter, one at a time: the answer and the
// figure beside it show what rests on it; Escape lets it go. Texts are set by textContent.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-brought");
  const row = (item, colour, parent) => {
    const line = makeElement("li", "", parent);
    line.style.setProperty("--held", `var(--lr-${colour})`);
    const chip = makeButton("chip", line, item.mark, () =>
      tellMarks({ held: MARKS.held === item.mark ? "" : item.mark, pointed: "" }),
    );
    chip.dataset.mark = item.mark;
    chip.title = data.hold;
    chip.setAttribute("aria-label", withColon(item.mark, withCommas(...item.names)));
    chip.style.setProperty("--c", `var(--lr-${colour})`);
    const point = (name) => () => tellMarks({ pointed: name });
    [chip.onmouseenter, chip.onmouseleave] = [point(item.mark), point("")];
    const name = makeElement("div", "", line);
    item.names.forEach((each, place) => {
      if (place) name.append(" – ");
      makeElement("bdi", "", name, each);
    });
    makeElement("small", "", name, item.reason);
  };
  const list = ({ title, count, colour, rows, more }) => {
    const made = makeElement("div"),
      head = makeElement("div", "lr-label", made, title),
      lines = makeElement("ul", "", made);
    makeElement("span", "", head, count);
    setAttributes(head, { role: "heading", "aria-level": "3" });
    for (const item of rows) row(item, colour, lines);
    if (more) makeElement("div", "more", made, more);
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
