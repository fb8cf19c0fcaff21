// A passage in pieces, set by textContent, scrolled so that the cited sentence (or the chunk) is in sight.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-text");
  host.replaceChildren();
  const edge = () => makeElement("span", "lr-edge", host, " … ");
  if (data.cut_before) edge();
  for (const { text, marks } of data.pieces) {
    const looks = [marks.includes("chunk") ? "inchunk" : "around", marks.includes("cited") ? "cited" : ""];
    makeElement(marks.includes("name") ? "mark" : "span", looks.filter(Boolean).join(" "), host, text);
  }
  if (data.cut_after) edge();
  const cited = host.querySelector(".cited"),
    target = cited ?? host.querySelector(".inchunk");
  // A chunk that begins the passage is in sight already.
  if (cited || (target && target !== host.firstElementChild)) {
    const timer = setTimeout(() => target.scrollIntoView({ block: cited ? "center" : "start" }), 60);
    return () => clearTimeout(timer);
  }
}
