// Puts the open figure, with its legend, into a presentation. It is drawn in both themes here and sent as two PNGs: of a
// picture no script can run.
const SCALES = [2, 1.5, 1]; // the largest whose pictures are not too large
const LEGENDS = ".legend, .lr-lg-legend, .lr-schema-legend";
const GAP = 10, // px between the figure and its legend
  SLACK = 18; // px below the legend: in a picture its letters may be wider and break once more
const BY_TEXT = /^(min-|max-)?(width|height|inline-size|block-size)$|^(perspective|transform)-origin$/;

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const button = parentElement.querySelector("button"),
    status = parentElement.querySelector("[role=status]");
  button.replaceChildren();
  makeElement("i", "icon", button, "slideshow").setAttribute("aria-hidden", "true");
  makeElement("span", "", button, data.words.add);
  button.title = data.words.help;
  button.style.visibility = "";
  button.onclick = async () => {
    const lines = document.querySelectorAll(".st-key-explore_body .lr-figtools");
    const visible = /** @type {any} */ ([...lines].find((line) => line.checkVisibility()));
    const shown = visible?.lrFigure;
    status.textContent = shown ? "" : data.words.none;
    if (!shown) return;
    button.disabled = true;
    try {
      const picture = await pictureOf(shown, data);
      if (picture)
        setTriggerValue("picture", { ...picture, title: shown.options.title, note: shown.options.note || "" });
      else status.textContent = data.words.large;
    } catch (error) {
      status.textContent = data.words.failed;
      console.warn(error);
    }
    button.disabled = false;
  };
}

/** Both pictures as data URIs and their size in px; null where they are too large. */
async function pictureOf(shown, data) {
  const [light, dark] = ["light", "dark"].map((theme) => sheet(shown, data, theme));
  const images = await Promise.all([imageOf(light.svg), imageOf(dark.svg)]);
  for (const scale of SCALES) {
    const pictures = images.map((image, place) => raster(image, [light, dark][place], scale));
    if (pictures.every((picture) => picture.length <= data.most))
      return { light: pictures[0], dark: pictures[1], width: Math.ceil(light.width), height: Math.ceil(light.height) };
  }
  return null;
}

/** The figure and its legend in that theme, as one SVG. The page has the theme's colours only while this runs. */
function sheet({ host, options }, data, theme) {
  const root = document.documentElement,
    kept = root.getAttribute("style"),
    still = makeElement(
      "style",
      "",
      document.head,
      "*,*::before,*::after{transition:none!important;animation:none!important}",
    ),
    { variables, hues, clouds } = data.themes[theme],
    after = [];
  try {
    for (const [name, value] of Object.entries(variables)) root.style.setProperty(name, value);
    const svg = options.picture ? options.picture({ hues: clouds, after }) : host.querySelector("svg");
    const made = composed(host, svg, variables["--lr-bg"]);
    if (theme !== data.theme) recolour(made.svg, data.themes[data.theme].hues, hues);
    return made;
  } finally {
    if (kept === null) root.removeAttribute("style");
    else root.setAttribute("style", kept);
    still.remove();
    for (const restore of after) restore();
  }
}

function composed(host, figure, ground) {
  const copy = standalone(figure),
    width = Number(copy.getAttribute("width")),
    own = Number(copy.getAttribute("height"));
  const svg = make("svg", { width });
  const paper = make("rect", { width, fill: ground }, svg);
  let height = 0;
  const heads = host.querySelector(".heads");
  if (heads?.textContent) height += part(heads, width, height, svg, 0);
  copy.setAttribute("y", height);
  svg.append(copy);
  height += own;
  const legend = host.querySelector(LEGENDS);
  if (legend?.textContent) height += GAP + part(legend, width, height + GAP, svg, SLACK);
  for (const sized of [svg, paper]) sized.setAttribute("height", height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return { svg, width, height };
}

/** Draws an element of the page into the SVG as it looks; returns its height. */
function part(element, width, top, svg, slack) {
  const height = element.getBoundingClientRect().height + slack;
  const frame = make("foreignObject", { x: 0, y: top, width, height }, svg),
    copy = element.cloneNode(true);
  const originals = [element, ...element.querySelectorAll("*")],
    copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, place) => {
    const style = getComputedStyle(original),
      target = copies[place],
      grows = original.textContent.trim() && style.position !== "absolute";
    for (const name of style)
      if (!grows || !BY_TEXT.test(name)) target.style.setProperty(name, style.getPropertyValue(name));
    const sign = getComputedStyle(original, "::before").content;
    if (/^".*"$/.test(sign)) target.prepend(sign.slice(1, -1));
    for (const name of ["class", "tabindex", "title"]) target.removeAttribute(name);
  });
  frame.append(copy);
  return height;
}

/** Puts each of the colours in the place of its counterpart: those that Python has chosen for a theme. */
function recolour(svg, from, to) {
  const numbers = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)).join(", ");
  const other = new Map(from.map((hex, place) => [numbers(hex), numbers(to[place])]));
  for (const element of svg.querySelectorAll("[style]")) {
    const style = element.getAttribute("style");
    const changed = style.replace(/(rgba?\()(\d+, \d+, \d+)/g, (_, begin, own) => begin + (other.get(own) ?? own));
    if (changed !== style) element.setAttribute("style", changed);
  }
}

function raster(image, { width, height }, scale) {
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(width * scale);
  canvas.height = Math.ceil(height * scale);
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL("image/png");
}
