// Brings the element of that key into sight when it is not, once for each number; its heading takes the focus, or the
// control of a setting, as soon as it is drawn.
const PAUSE = 120; // milliseconds until it is looked for, and between two looks
const MOST = 60; // looks

export default function (component) {
  const { data, parentElement } = component;
  if (parentElement.dataset.shown === String(data.number)) return;
  const isSetting = data.key.startsWith("place_");
  let looks = 0,
    timer = setTimeout(look, PAUSE);
  function look() {
    const target = document.querySelector(`.st-key-${data.key}`);
    if (!target) return;
    const wanted = isSetting ? "input, textarea, button" : '[role="heading"]';
    const focused = /** @type {HTMLElement | null} */ (target.querySelector(wanted));
    const { top, height } = target.getBoundingClientRect();
    if (top < 0 || top + Math.min(height, 240) > window.innerHeight) target.scrollIntoView({ block: "start" });
    focused?.focus({ preventScroll: true });
    // A control may still be on its way, or the page not be shown yet.
    if (isSetting && document.activeElement !== focused && ++looks < MOST) timer = setTimeout(look, PAUSE);
    else parentElement.dataset.shown = String(data.number);
  }
  return () => clearTimeout(timer);
}
