// What the drawings have in common; put before the script of each. Every text is set by textContent, and colours are
// the page's --lr-* properties.
const NS = "http://www.w3.org/2000/svg";
const FONT = '"Source Sans","Source Sans Pro",system-ui,sans-serif';
const pen = document.createElement("canvas").getContext("2d");

function make(tag, attributes, parent, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

// A score between 0 and 1 as the pages write it: ".83", "1.00", "−.20".
function scoreText(value, places) {
  const rounded = Number(value.toFixed(places)) || 0; // no minus before a zero
  return rounded
    .toFixed(places)
    .replace(/^(-?)0\./, "$1.")
    .replace("-", "−");
}

// The signs between parts of a text in the page's language; full-width ones hold their own blank.
function signs() {
  const full = document.documentElement.lang.startsWith("zh");
  return full ? { colon: "：", comma: "，", semicolon: "；" } : { colon: ": ", comma: ", ", semicolon: "; " };
}

function withColon(title, text) {
  return title + signs().colon + text;
}

// The texts that are not empty, with commas between them.
function withCommas(...texts) {
  return texts.filter(Boolean).join(signs().comma);
}

// The text with the space that stands between it and what follows: none behind full-width punctuation.
function withSpace(text) {
  return /[。！？；：，、）」』》]$/.test(text) ? text : `${text} `;
}

// The sentences that are not empty in a row.
function sentencesInRow(...texts) {
  return texts.filter(Boolean).reduce((row, text) => (row ? withSpace(row) : "") + text, "");
}

// The data attributes of the element in the host that has the focus; none where that is elsewhere.
function focusedIn(host) {
  const focused = /** @type {HTMLElement | SVGElement} */ (document.activeElement);
  return host.contains(focused) ? focused.dataset : {};
}

// Whether a line of text is not wider than that many pixels in that font.
function measure(width, font) {
  return (line) => {
    pen.font = font;
    return pen.measureText(line).width <= width;
  };
}

// The longest beginning that fits with an ellipsis, by bisection; the whole text where that fits.
function cut(text, fits) {
  if (fits(text)) return text;
  let low = 0,
    high = text.length;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (fits(text.slice(0, middle) + "…")) low = middle;
    else high = middle - 1;
  }
  return text.slice(0, low).trimEnd() + "…";
}

// A word with the blanks before it, or one character of a script that is written without blanks, with its punctuation.
const UNBROKEN = /\s*(?:[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]\p{P}*|[^\s\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+)/gu;

// The text in lines, broken between words and between Chinese or Japanese characters; a word that is too long has a
// line of its own.
function linesOf(text, fits) {
  const lines = [];
  let line = "";
  for (const [piece] of text.matchAll(UNBROKEN)) {
    const longer = line ? line + piece.replace(/^\s+/, " ") : piece.trimStart();
    if (line && !fits(longer)) {
      lines.push(line);
      line = piece.trimStart();
    } else line = longer;
  }
  return [...lines, line];
}
