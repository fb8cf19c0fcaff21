// The tour: a card in the corner, one step at a time, each beside the link of its page. It takes no focus by itself.
const SEEN = "leanrag-tour-seen";

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
  const card = makeElement("section", "lr-tour", place),
    go = (to, focus) => draw(place, data, to, focus);
  card.setAttribute("aria-label", data.words.label);
  const end = () => go(data.steps.length);
  const head = makeElement("div", "top", card);
  makeElement("span", "n", head, step.count);
  const skip = makeElement("button", "plain", head, data.words.skip);
  skip.onclick = end;
  makeElement("b", "t", card, step.title).setAttribute("role", "heading");
  card.querySelector(".t").setAttribute("aria-level", "2");
  makeElement("p", "d", card, step.text).setAttribute("aria-live", "polite");
  const row = makeElement("div", "row", card);
  makeElement("button", "plain go", row, step.go).onclick = () => linkOf(step.page)?.click();
  if (number) makeElement("button", "plain back", row, data.words.back).onclick = () => go(number - 1, "back");
  const last = number === data.steps.length - 1;
  makeElement("button", "next", row, last ? data.words.done : data.words.next).onclick = last
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
