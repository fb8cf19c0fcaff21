// Brings the element of that key into sight when it is not, once for each number; its heading takes the focus, or the
// control of a setting.
export default function (component) {
  const { data, parentElement } = component;
  if (parentElement.dataset.shown === String(data.number)) return;
  const timer = setTimeout(() => {
    parentElement.dataset.shown = String(data.number); // not before: the page may be drawn again meanwhile
    const target = document.querySelector(`.st-key-${data.key}`);
    if (!target) return;
    const { top, height } = target.getBoundingClientRect();
    if (top < 0 || top + Math.min(height, 240) > window.innerHeight) target.scrollIntoView({ block: "start" });
    const first = data.key.startsWith("place_") ? "input, textarea, button" : '[role="heading"]';
    const focused = /** @type {HTMLElement | null} */ (target.querySelector(first));
    focused?.focus({ preventScroll: true });
  }, 120);
  return () => clearTimeout(timer);
}
