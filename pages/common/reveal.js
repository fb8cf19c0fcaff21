// Brings the element of that key into sight when it is not, once for each number; its heading takes the focus.
export default function (component) {
  const { data, parentElement } = component;
  if (parentElement.dataset.shown === String(data.number)) return;
  parentElement.dataset.shown = String(data.number);
  const timer = setTimeout(() => {
    const target = document.querySelector(`.st-key-${data.key}`);
    if (!target) return;
    const { top, height } = target.getBoundingClientRect();
    if (top < 0 || top + Math.min(height, 240) > window.innerHeight) target.scrollIntoView({ block: "start" });
    const heading = /** @type {HTMLElement | null} */ (target.querySelector('[role="heading"]'));
    heading?.focus({ preventScroll: true });
  }, 120);
  return () => clearTimeout(timer);
}
