// A passage in pieces, set by textContent, scrolled so that the cited sentence (or the chunk) is in sight.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-text");
  const edge = () => {
    const sign = document.createElement("span");
    sign.className = "lr-edge";
    sign.textContent = " … ";
    return sign;
  };
  const runs = data.pieces.map((piece) => {
    const run = document.createElement(piece.marks.includes("name") ? "mark" : "span");
    run.className = [piece.marks.includes("chunk") ? "inchunk" : "around", piece.marks.includes("cited") ? "cited" : ""]
      .join(" ")
      .trim();
    run.textContent = piece.text;
    return run;
  });
  host.replaceChildren(...(data.cut_before ? [edge()] : []), ...runs, ...(data.cut_after ? [edge()] : []));
  const cited = host.querySelector(".cited"),
    target = cited ?? host.querySelector(".inchunk");
  // A chunk that begins the passage is in sight already.
  if (cited || (target && target !== host.firstElementChild)) {
    const timer = setTimeout(() => target.scrollIntoView({ block: cited ? "center" : "start" }), 60);
    return () => clearTimeout(timer);
  }
}
