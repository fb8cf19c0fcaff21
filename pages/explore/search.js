// The search field: every key lights matches in the view at once (the event lr-search); the list below the field comes
// from the whole index a moment later. Arrows move in the list, Enter opens, Escape closes it and then empties the field.
const PAUSE = 120; // milliseconds without a key before the index is searched

function build(host, words) {
  const box = makeElement("div", "box", host);
  makeElement("span", "glass", box).setAttribute("aria-hidden", "true");
  const input = makeElement("input", "", box);
  setAttributes(input, {
    type: "text",
    role: "combobox",
    placeholder: words.placeholder,
    "aria-label": words.label,
    "aria-autocomplete": "list",
    "aria-controls": "lr-search-list",
    "aria-expanded": "false",
    autocomplete: "off",
    spellcheck: "false",
    dir: "auto",
  });
  const total = makeElement("span", "total", box),
    clear = makeButton("clear", box, "×");
  clear.setAttribute("aria-label", words.clear);
  const panel = makeElement("div", "panel", host),
    list = makeElement("div", "list", panel);
  list.id = "lr-search-list";
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", words.label);
  const foot = makeElement("div", "foot", panel),
    said = makeElement("span", "", foot);
  said.setAttribute("aria-live", "polite");
  makeElement("span", "keys", foot, words.keys);
  return { box, input, total, clear, panel, list, said };
}

// The name with what was searched in bold.
function highlighted(name, search, parent) {
  const at = name.toLocaleLowerCase().indexOf(search.toLocaleLowerCase());
  if (at < 0 || !search) {
    parent.append(name);
    return;
  }
  parent.append(name.slice(0, at));
  makeElement("b", "", parent, name.slice(at, at + search.length));
  parent.append(name.slice(at + search.length));
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-search");
  const parts = (host.lrParts ||= build(host, data.words));
  const { input } = parts;
  const held = document.activeElement === input;
  host.lrSent ??= data.find;
  host.lrBefore ??= new Set(); // what was sent before the last text: its results may still arrive, one after the other
  if (data.find === host.lrSent.trim()) host.lrBefore.clear();
  const isLate = held && host.lrBefore.has(data.find);
  if (!isLate && (!held || host.lrSent === input.value) && input.value.trim() !== data.find) input.value = data.find;
  let active = 0;
  const options = data.matches.map((match, place) => {
    const option = makeElement("div", "option");
    option.id = `lr-search-${place}`;
    option.setAttribute("role", "option");
    makeLayerTag(match.layer, option);
    const name = makeElement("span", "name", option);
    name.dir = "auto";
    highlighted(match.name, data.find, name);
    makeElement("span", "side", option, match.side);
    option.onmousedown = (event) => {
      event.preventDefault();
      choose(place);
    };
    return option;
  });
  parts.list.replaceChildren(...options);
  parts.said.textContent = data.foot;
  parts.total.textContent = data.total;
  const light = () => document.dispatchEvent(new CustomEvent("lr-search", { detail: input.value }));
  const show = (open) => {
    const visible = open && input.value.trim() !== "" && data.foot !== "";
    parts.panel.hidden = !visible;
    parts.list.hidden = !options.length;
    parts.clear.hidden = !input.value;
    input.setAttribute("aria-expanded", String(visible));
  };
  const move = (place) => {
    active = Math.max(0, Math.min(options.length - 1, place));
    options.forEach((option, at) => option.setAttribute("aria-selected", String(at === active)));
    if (options.length) {
      input.setAttribute("aria-activedescendant", options[active].id);
      options[active].scrollIntoView({ block: "nearest" });
    } else input.removeAttribute("aria-activedescendant");
  };
  const write = (text) => {
    host.lrBefore.add(host.lrSent.trim());
    host.lrSent = text;
    setTriggerValue("typed", `=${text.trim()}`); // an emptied field is a report too
  };
  const choose = (place) => {
    show(false);
    if (data.matches[place]) setTriggerValue("picked", data.matches[place].id);
  };
  input.oninput = () => {
    host.lrWaiting = undefined;
    light();
    parts.clear.hidden = !input.value;
    clearTimeout(host.lrTimer);
    host.lrTimer = setTimeout(() => write(input.value), PAUSE);
  };
  input.onkeydown = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      if (parts.panel.hidden) show(true);
      else move(active + step);
    } else if (event.key === "Enter") {
      event.preventDefault();
      enter();
    } else if (event.key === "Escape") {
      if (!parts.panel.hidden) show(false);
      else empty();
    }
  };
  const enter = () => {
    if (data.find === input.value.trim()) {
      choose(active);
      return;
    }
    host.lrWaiting = input.value.trim(); // its matches are not here yet: the first one is opened when they come
    clearTimeout(host.lrTimer);
    write(input.value);
  };
  const empty = () => {
    input.value = "";
    clearTimeout(host.lrTimer);
    light();
    write("");
    show(false);
    input.focus();
  };
  input.onfocus = () => show(true);
  input.onblur = () => show(false);
  parts.clear.onmousedown = (event) => event.preventDefault();
  parts.clear.onclick = empty;
  move(0);
  const isAwaited = host.lrWaiting !== undefined && host.lrWaiting === data.find;
  if (isAwaited) {
    host.lrWaiting = undefined;
    setTimeout(() => choose(0), 0);
  }
  show(!isAwaited && (held && host.lrShown !== data.find ? true : held && !parts.panel.hidden));
  host.lrShown = data.find;
}
