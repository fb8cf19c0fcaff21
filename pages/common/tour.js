// The tour: a card in the corner, one step at a time, each beside the link of its page. It takes no focus by itself.
const SEEN = "leanrag-tour-seen";

function part(parent, kind, className, text) {
  const made = document.createElement(kind);
  made.className = className;
  if (text) made.textContent = text;
  parent.append(made);
  return made;
}

/** @returns {HTMLAnchorElement | null} */
const linkOf = (page) => document.querySelector(`[data-testid="stSidebarNav"] a[href$="/${page}"]`);

function mark(page) {
  for (const link of document.querySelectorAll("[data-testid='stSidebarNav'] a.lr-tour-at"))
    link.classList.remove("lr-tour-at");
  if (page) linkOf(page)?.classList.add("lr-tour-at");
}

function draw(place, data, number, focused) {
  place.replaceChildren();
  const step = data.steps[number];
  mark(step && step.page);
  if (!step) return;
  const card = part(place, "section", "lr-tour"),
    go = (to, focus) => draw(place, data, to, focus);
  card.setAttribute("aria-label", data.words.label);
  const end = () => go(data.steps.length);
  const head = part(card, "div", "top");
  part(head, "span", "n", step.count);
  const skip = part(head, "button", "plain", data.words.skip);
  skip.onclick = end;
  part(card, "b", "t", step.title).setAttribute("role", "heading");
  card.querySelector(".t").setAttribute("aria-level", "2");
  part(card, "p", "d", step.text).setAttribute("aria-live", "polite");
  const row = part(card, "div", "row");
  part(row, "button", "plain go", step.go).onclick = () => linkOf(step.page)?.click();
  if (number) part(row, "button", "plain back", data.words.back).onclick = () => go(number - 1, "back");
  const last = number === data.steps.length - 1;
  part(row, "button", "next", last ? data.words.done : data.words.next).onclick = last
    ? end
    : () => go(number + 1, "next");
  card.onkeydown = (event) => {
    if (event.key === "Escape") end();
  };
  if (focused) (card.querySelector(`.${focused}`) || card.querySelector(".next")).focus();
  place.dataset.step = number;
}

export default function (component) {
  const { data, parentElement } = component;
  const place = parentElement.querySelector(".lr-tour-place"),
    again = String(data.again);
  place.hidden = data.hidden;
  const begins = data.again ? place.dataset.again !== again : data.first && !localStorage.getItem(SEEN);
  place.dataset.again = again;
  if (begins) {
    localStorage.setItem(SEEN, "1"); // at once: a reload does not begin it anew
    place.dataset.step = 0;
  } else if (!place.firstChild) return mark("");
  const language = JSON.stringify(data.words);
  if (!begins && place.dataset.words === language) return;
  place.dataset.words = language;
  draw(place, data, Number(place.dataset.step));
}
