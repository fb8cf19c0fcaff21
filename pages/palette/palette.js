// The command palette: a dialog with one field and a list. It opens at once with what is there on every page; what
// changes while people work, and entities of the index, come from the server a moment later.
const PAUSE = 120; // milliseconds without a key before the index is searched
const MOST = 6; // items of a kind that are listed
const TAKING_OVER = 10000; // milliseconds in which Streamlit takes over the machine's new theme, at most
const IS_MAC = /Mac|iP(hone|ad|od)/.test(navigator.platform);
const HINT = IS_MAC ? "⌘K" : "Ctrl K";

const palette = {
  /** @type {HTMLDialogElement} */
  dialog: null,
  /** @type {HTMLInputElement} */
  input: null,
  /** @type {any} */
  list: null,
  /** @type {any} */
  said: null,
  /** @type {any} */
  floating: null, // the button where the sidebar is closed
  data: null,
  send: null,
  ofHome: [],
  entities: [],
  shown: [],
  active: 0,
  timer: 0,
  awaitsHome: false, // what changes while people work was asked for and is not here yet
  /** @type {any} */
  before: null, // what had the focus
};

/**
 * Has the page drawn again once Streamlit has the machine's theme; before, the server would be told the old one. It never
 * has where the reader chose a theme.
 * @param {MediaQueryList} dark
 * @param {number} until
 */
function followTheme(dark, until) {
  const app = document.querySelector("[data-testid=stApp]");
  const theme = dark.matches ? "dark" : "light";
  if (app && getComputedStyle(app).colorScheme === theme) palette.send("theme", dark.matches);
  else if (performance.now() < until) setTimeout(() => followTheme(dark, until), 50);
}

// Returns the element, or the one of the same name that the page has drawn in its place meanwhile.
function thatStands(element) {
  if (!element || element.isConnected) return element;
  const name = element.getAttribute("aria-label");
  return name ? document.querySelector(`${element.tagName}[aria-label="${CSS.escape(name)}"]`) : null;
}

function build() {
  // The page's own colours come from the server, which draws it again in the new theme.
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.onchange = () => followTheme(dark, performance.now() + TAKING_OVER);
  const dialog = makeElement("dialog", "lr-palette", document.body);
  const box = makeElement("div", "box", dialog);
  makeElement("span", "glass", box).setAttribute("aria-hidden", "true");
  const input = makeElement("input", "", box);
  setAttributes(input, {
    type: "text",
    role: "combobox",
    "aria-autocomplete": "list",
    "aria-controls": "lr-palette-list",
    "aria-expanded": "true",
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "go",
    dir: "auto",
  });
  makeButton("close", box, "×", () => dialog.close());
  const list = makeElement("div", "list", dialog);
  list.id = "lr-palette-list";
  list.setAttribute("role", "listbox");
  const foot = makeElement("div", "foot", dialog);
  const said = makeElement("span", "said", foot);
  said.setAttribute("role", "status");
  makeElement("span", "keys", foot);
  const floating = makeButton("lr-palette-open floating", document.body);
  Object.assign(palette, { dialog, input, list, said, floating });
  input.oninput = () => {
    palette.active = 0;
    draw();
    clearTimeout(palette.timer);
    palette.timer = setTimeout(search, PAUSE);
  };
  // No key reaches the page behind it, which may play, page or pan by them.
  dialog.onkeydown = (event) => {
    event.stopPropagation();
    if (isHotkey(event)) {
      event.preventDefault();
      dialog.close();
      return;
    }
    if (event.target !== input || event.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: MOST, PageUp: -MOST }[event.key];
    if (step) {
      event.preventDefault();
      const last = palette.shown.length - 1;
      const next = palette.active + step;
      move(Math.abs(step) > 1 ? Math.max(0, Math.min(last, next)) : next < 0 ? last : next > last ? 0 : next);
    } else if (event.key === "Enter") {
      event.preventDefault();
      choose(palette.active, event.ctrlKey || event.metaKey);
    }
  };
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close(); // beside it
  };
  dialog.onclose = () => {
    clearTimeout(palette.timer);
    const back = thatStands(palette.before) ?? document.querySelector(".lr-palette-open");
    back?.focus({ preventScroll: true });
  };
  document.addEventListener(
    "keydown",
    (event) => {
      if (!isHotkey(event) || dialog.open) return;
      event.preventDefault();
      event.stopPropagation();
      open();
    },
    true,
  );
}

const isHotkey = (event) =>
  (event.ctrlKey || event.metaKey) && !event.altKey && !event.shiftKey && event.key.toLowerCase() === "k";

function open() {
  palette.before = document.activeElement === document.body ? null : document.activeElement;
  palette.input.value = "";
  palette.entities = [];
  palette.active = 0;
  palette.dialog.showModal();
  palette.input.focus();
  draw();
  palette.awaitsHome = true;
  search();
}

// Asks for the entities that match. A request that is overtaken by the next one is never answered, so each asks again
// for what changes while people work, until that is here.
function search() {
  palette.send("searched", { text: palette.input.value, opened: palette.awaitsHome });
}

// The items at hand: what is written takes the place of {text}.
function candidates(text) {
  const written = text.trim().replace(/\s+/g, " ");
  const fill = (template) => template.replace("{text}", () => written);
  const isTemplate = (item) => item.title.includes("{text}");
  const fixed = palette.data.fixed.filter((item) => !isTemplate(item));
  const templates = written ? palette.data.fixed.filter(isTemplate) : [];
  const filled = templates.map((item) => ({ ...item, title: fill(item.title), values: { q: written } }));
  return { items: [...fixed, ...palette.ofHome, ...palette.entities], filled };
}

function draw() {
  const { data, list, input } = palette;
  const text = input.value,
    words = wordsOf(text);
  const { items, filled } = candidates(text);
  // Nothing written: pages, questions and indexes are what one goes to.
  const listed = words.length ? items : items.filter((item) => item.kind !== "setting");
  const groups = grouped(listed, text, Object.keys(data.kinds), words.length ? MOST : MOST + 2);
  if (filled.length) {
    const action = groups.find((group) => group.kind === "action");
    if (action) action.items.push(...filled);
    else groups.push({ kind: "action", best: 0, items: filled });
  }
  const held = palette.active ? palette.shown[palette.active] : null; // moved to: it stays chosen when more arrives
  palette.shown = groups.flatMap((group) => group.items);
  if (held) palette.active = palette.shown.findIndex((item) => item.kind === held.kind && item.title === held.title);
  let place = 0;
  const rows = groups.map((group) => {
    const part = makeElement("div", "group");
    part.setAttribute("role", "group");
    part.setAttribute("aria-label", data.kinds[group.kind]);
    for (const item of group.items) part.append(row(item, place++, words));
    return part;
  });
  list.replaceChildren(...rows);
  const count = palette.shown.length - filled.length;
  palette.said.textContent = count || !words.length ? data.words.found.replace("{n}", count) : data.words.nothing;
  move(Math.min(palette.active, palette.shown.length - 1), false);
}

function row(item, place, words) {
  const option = makeElement("div", "option");
  option.id = `lr-palette-${place}`;
  option.setAttribute("role", "option");
  const title = makeElement("span", "title", option);
  title.dir = "auto";
  for (const [text, isWritten] of pieces(item.title, words))
    if (isWritten) makeElement("b", "", title, text);
    else title.append(text);
  if (item.detail) makeElement("span", "detail", option, item.detail).dir = "auto";
  makeElement("span", "kind", option, palette.data.kinds[item.kind]);
  option.onmousedown = (event) => event.preventDefault(); // the field keeps the focus
  option.onclick = (event) => choose(place, event.ctrlKey || event.metaKey);
  return option;
}

function move(place, scroll = true) {
  palette.active = Math.max(0, place);
  [...palette.list.querySelectorAll('[role="option"]')].forEach((option, at) => {
    option.setAttribute("aria-selected", String(at === palette.active));
    if (at !== palette.active) return;
    palette.input.setAttribute("aria-activedescendant", option.id);
    if (scroll) option.scrollIntoView({ block: "nearest" });
  });
  if (!palette.shown.length) palette.input.removeAttribute("aria-activedescendant");
}

// A link to an item, for another window: empty values are what the page at hand would forget.
function link(item) {
  const address = new URL(item.page || location.pathname.split("/").pop(), document.baseURI);
  for (const [name, value] of Object.entries(item.values || {})) if (value) address.searchParams.set(name, value);
  return address.href;
}

function choose(place, elsewhere) {
  const item = palette.shown[place];
  if (!item) return;
  const [action, of] = (item.does || "").split(":");
  if (elsewhere && action !== "theme" && action !== "tour" && action !== "language") {
    window.open(link(item), "_blank", "noopener");
    return;
  }
  palette.before = null; // the page it leads to has its own
  palette.dialog.close();
  if (action === "theme") setTheme(of);
  else palette.send("chosen", item);
}

// Streamlit keeps the theme for each path by itself, and reads it when it starts: the page's address brings it back.
function setTheme(theme) {
  const pages = ["", ...palette.data.fixed.filter((item) => item.kind === "page").map((item) => item.page)];
  for (const page of pages) {
    const key = `stActiveTheme-${new URL(page, document.baseURI).pathname}-v2`;
    if (theme === "System") localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(theme));
  }
  location.reload();
}

function label(button, words, text) {
  button.replaceChildren();
  makeElement("span", "glass", button).setAttribute("aria-hidden", "true");
  makeElement("span", "what", button, text);
  makeElement("kbd", "", button, HINT);
  button.setAttribute("aria-label", words.label);
  button.setAttribute("aria-keyshortcuts", "Control+K Meta+K");
  button.setAttribute("aria-haspopup", "dialog");
  button.title = `${words.label} (${HINT})`;
  button.style.visibility = "";
  button.onclick = open;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  if (!palette.dialog) build();
  palette.data = data;
  palette.send = setTriggerValue;
  document.documentElement.lang = data.language; // as readers aloud and exported files take it; Streamlit says English
  sayStreamlit(data.language, data.streamlit);
  const { words } = data;
  label(parentElement.querySelector(".lr-palette-open"), words, words.open);
  label(palette.floating, words, "");
  palette.dialog.setAttribute("aria-label", words.label);
  palette.input.setAttribute("aria-label", words.label);
  palette.input.placeholder = words.placeholder;
  palette.list.setAttribute("aria-label", words.label);
  palette.dialog.querySelector(".close").setAttribute("aria-label", words.close);
  palette.dialog.querySelector(".keys").textContent = words.keys;
  if (data.of_home) Object.assign(palette, { ofHome: data.of_home, awaitsHome: false });
  if (data.entities) palette.entities = data.entities; // of an earlier text perhaps: those that still match are listed
  if (palette.dialog.open) draw();
}
