// The row of cards as one picture. It is drawn where nobody sees it, since what it looks like is read from the page.
export default function (component) {
  const { data, parentElement } = component;
  const host = parentElement.querySelector(".lr-multools");
  const holder = document.createElement("div"),
    { width, height, label, shapes } = data.picture;
  holder.style.cssText = "position:fixed;left:-30000px;top:0";
  holder.setAttribute("aria-hidden", "true");
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": label }, holder);
  for (const shape of shapes) {
    const element = make(shape.tag, shape.attributes, svg, shape.text || undefined);
    if (shape.tag === "text") element.style.fontFamily = FONT;
    if (shape.title) element.prepend(make("title", {}, null, shape.title));
  }
  host.replaceChildren(holder);
  figureTools(host, { ...data.tools, picture: () => svg });
}
