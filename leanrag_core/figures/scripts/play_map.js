// The whole hierarchy as one row a layer, and in it what the play has lit.
function playMap(parent, data, words, explore) {
  if (!data.spans.length) return () => {};
  const host = addHtml("div", "whole", "", parent),
    head = addHtml("div", "whole-head", "", host);
  addHtml("b", "", words.whole, head);
  if (explore) {
    const button = addHtml("button", "", words.show_whole, head);
    button.type = "button";
    button.onclick = () => explore("whole");
  }
  const marks = [],
    top = data.layers.length - 1,
    step = 10;
  const svg = make(
    "svg",
    {
      viewBox: `0 0 1000 ${step * (top + 1)}`,
      preserveAspectRatio: "none",
      role: "img",
      height: step * (top + 1),
      "aria-label": words.whole,
    },
    host,
  );
  data.layers.forEach((size, layer) =>
    make(
      "title",
      {},
      make("rect", { class: "whole-row", x: 0, y: (top - layer) * step + 1, width: 1000, height: step - 2 }, svg),
      filled(words.layer_of, { n: layer, total: size }),
    ),
  );
  for (const span of data.spans) {
    const width = Math.max(3.5, 1000 * (span.right - span.left) - 1);
    const mark = make(
      "rect",
      {
        class: "whole-mark",
        x: Math.min(1000 - width, 1000 * span.left),
        y: (top - span.layer) * step + 1,
        width,
        height: step - 2,
        fill: `var(--lr-${span.colour})`,
      },
      svg,
    );
    make("title", {}, mark, data.items[span.id]?.name ?? "");
    marks.push([span.id, mark]);
  }
  return (lit) => {
    for (const [id, mark] of marks) mark.classList.toggle("later", !lit.has(id));
  };
}
