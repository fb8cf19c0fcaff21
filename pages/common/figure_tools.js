// One muted line below a figure: what is drawn of how many, its keys, and the figure as a table, a picture or a page.
// Put behind svg.js and before the script of a figure. The files are made here; nothing is asked of the server.
const INLINED = [
  "color",
  "display",
  "dominant-baseline",
  "fill",
  "fill-opacity",
  "font-family",
  "font-size",
  "font-style",
  "font-variant-numeric",
  "font-weight",
  "letter-spacing",
  "opacity",
  "paint-order",
  "stroke",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "stroke-opacity",
  "stroke-width",
  "text-anchor",
  "text-decoration",
  "unicode-bidi",
  "visibility",
];

// host: holds the figure's SVG; the line becomes its last child. options: as figure_tools.tools() of Python makes them,
// with asTable, called for "Show as table" (left out where that is undefined), and picture, which returns the SVG to
// save (the first one in the host where it is undefined); for another theme it gets { hues, after }: colours of that
// theme, and a list of what is to be done once the page has its own again.
function figureTools(host, options) {
  const line = makeElement("div", "lr-figtools");
  makeElement("span", "", line, sentencesInRow(options.note, options.keys));
  const picture = () => standalone(options.picture ? options.picture() : host.querySelector("svg"));
  const button = (text, label, run) => {
    const made = makeButton("", line, text, run);
    if (label) made.setAttribute("aria-label", label);
  };
  if (options.asTable) button(options.words.table, "", options.asTable);
  button("PNG", options.words.png, () => savePicture(picture(), options.title));
  if (options.words.svg) button("SVG", options.words.svg, () => saveDrawing(picture(), options.title));
  button("HTML", options.words.html, () => savePage(picture(), options));
  Object.assign(line, { lrFigure: { host, options } }); // for a button elsewhere on the page that takes the figure
  host.querySelector(":scope > .lr-figtools")?.remove();
  host.append(line);
}

// A copy of the SVG that looks the same without the page's style sheets.
function standalone(svg) {
  const copy = svg.cloneNode(true),
    seen = svg.getBoundingClientRect();
  const width = seen.width || Number(svg.getAttribute("width")), // one that is not on the page has no size
    height = seen.height || Number(svg.getAttribute("height"));
  const originals = [svg, ...svg.querySelectorAll("*")],
    copies = [copy, ...copy.querySelectorAll("*")];
  originals.forEach((original, place) => {
    const style = getComputedStyle(original),
      target = copies[place];
    for (const name of INLINED) {
      const value = style.getPropertyValue(name);
      if (value) target.style.setProperty(name, value);
    }
    for (const name of ["tabindex", "class"]) target.removeAttribute(name);
  });
  copy.setAttribute("xmlns", NS);
  copy.setAttribute("width", width);
  copy.setAttribute("height", height);
  if (!copy.getAttribute("viewBox")) copy.setAttribute("viewBox", `0 0 ${width} ${height}`);
  return copy;
}

// The type faces of figures as rules of a style sheet with the files in them: a picture cannot fetch any.
let faces = null;
function typefaces() {
  faces ??= Promise.all(
    [...document.styleSheets]
      .filter((sheet) => !sheet.href || new URL(sheet.href).origin === location.origin) // others may not be read
      .flatMap((sheet) =>
        [...sheet.cssRules].map((rule) => ({ face: styleOf(rule), base: sheet.href || document.baseURI })),
      )
      .filter(({ face }) => face !== null)
      .map(async ({ face, base }) => {
        const [, path] = /url\("?([^")]+)"?\)/.exec(face.getPropertyValue("src")) ?? [];
        const content = path.startsWith("data:") ? path : await dataOf(new URL(path, base));
        const weight = face.getPropertyValue("font-weight") || "normal";
        return `@font-face{font-family:"Source Sans";font-weight:${weight};src:url(${content})}`;
      }),
  ).then((rules) => rules.join(""));
  return faces;
}

// The content of a file as an address.
async function dataOf(address) {
  const file = await (await fetch(address)).blob();
  return new Promise((done) => {
    const reader = new FileReader();
    reader.onload = () => done(reader.result);
    reader.readAsDataURL(file);
  });
}

// What the rule says of an upright face of figures; null for any other rule.
function styleOf(rule) {
  if (!(rule instanceof CSSFontFaceRule)) return null;
  const { style } = /** @type {any} */ (rule);
  const upright = (style.getPropertyValue("font-style") || "normal") === "normal";
  return upright && style.getPropertyValue("font-family").replaceAll(/["']/g, "") === "Source Sans" ? style : null;
}

// An image of the SVG, in the type face of the page.
async function imageOf(svg) {
  const style = make("style", {}, null, await typefaces());
  svg.prepend(style);
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  return image;
}

function pageColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--lr-${name}`).trim();
}

async function savePicture(svg, title) {
  const scale = 2,
    canvas = document.createElement("canvas"),
    image = await imageOf(svg);
  canvas.width = Math.ceil(svg.getAttribute("width") * scale);
  canvas.height = Math.ceil(svg.getAttribute("height") * scale);
  const context = canvas.getContext("2d");
  context.fillStyle = pageColour("bg");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  canvas.toBlob((blob) => saveFile(blob, title, "png"), "image/png");
}

// The picture as shapes, on the ground of the page.
function saveDrawing(svg, title) {
  const [x, y, width, height] = svg.getAttribute("viewBox").split(" ");
  svg.prepend(make("rect", { x, y, width, height, fill: pageColour("bg") }));
  saveFile(new Blob([new XMLSerializer().serializeToString(svg)], { type: "image/svg+xml" }), title, "svg");
}

// What a saved page does: the wheel and the keys + and - zoom the picture, dragging moves it, 0 shows all of it again.
const ZOOMING = `(() => {
  const svg = document.querySelector("svg"), whole = svg.getAttribute("viewBox").split(" ").map(Number);
  let [x, y, w, h] = whole;
  const show = () => svg.setAttribute("viewBox", [x, y, w, h].join(" "));
  const zoom = (factor, at = [0.5, 0.5]) => {
    const next = Math.min(whole[2], Math.max(whole[2] / 20, w * factor)), ratio = next / w;
    x += at[0] * w * (1 - ratio); y += at[1] * h * (1 - ratio); w *= ratio; h *= ratio;
    if (ratio > 1 && w >= whole[2]) [x, y, w, h] = whole;
    show();
  };
  svg.style.cursor = "grab"; svg.style.touchAction = "none";
  svg.addEventListener("wheel", (event) => { event.preventDefault(); const box = svg.getBoundingClientRect(); zoom(Math.exp(event.deltaY / 400), [(event.clientX - box.x) / box.width, (event.clientY - box.y) / box.height]); }, { passive: false });
  svg.addEventListener("pointermove", (event) => { if (!event.buttons) return; const box = svg.getBoundingClientRect(); x -= event.movementX * w / box.width; y -= event.movementY * h / box.height; show(); });
  addEventListener("keydown", (event) => { if (event.key === "+") zoom(0.7); if (event.key === "-") zoom(1 / 0.7); if (event.key === "0") { [x, y, w, h] = whole; show(); } });
})();`;

// A page of its own: every text is set as text, so that a name cannot become markup.
function savePage(svg, options) {
  const page = document.implementation.createHTMLDocument(options.title);
  page.documentElement.lang = document.documentElement.lang || "en";
  const charset = page.createElement("meta"),
    view = page.createElement("meta"),
    style = page.createElement("style");
  charset.setAttribute("charset", "utf-8");
  view.name = "viewport";
  view.content = "width=device-width";
  style.textContent = `body{margin:24px;background:${pageColour("bg")};color:${pageColour("text")};font-family:${FONT.replaceAll('"', "'")}}h1{font-size:20px}p{color:${pageColour("mute")};font-size:14px}svg{max-width:100%;height:auto}`;
  page.head.prepend(charset, view);
  page.head.append(style);
  const heading = page.createElement("h1"),
    note = page.createElement("p");
  heading.textContent = options.title;
  note.textContent = options.note || "";
  const script = page.createElement("script");
  script.textContent = ZOOMING;
  page.body.append(heading, page.adoptNode(svg), note, script);
  saveFile(
    new Blob([`<!doctype html>\n${page.documentElement.outerHTML}`], { type: "text/html" }),
    options.title,
    "html",
  );
}

function saveFile(blob, title, ending) {
  const link = document.createElement("a"),
    name = title
      .replace(/[^\p{L}\p{N}]+/gu, "-")
      .replace(/^-|-$/g, "")
      .slice(0, 60);
  link.href = URL.createObjectURL(blob);
  link.download = `${name || "figure"}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
