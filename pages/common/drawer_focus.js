// The focus enters the drawer that this stands in, also where it opened while the page was drawn again and what had the
// focus was taken away: then no key would reach the drawer, and Escape not close it.
export default function (component) {
  const drawer = component.parentElement.closest('[role="dialog"]');
  if (!drawer) return;
  const enter = () => {
    drawer.tabIndex = -1;
    drawer.focus({ preventScroll: true });
  };
  const timer = setTimeout(() => {
    if (!drawer.contains(document.activeElement)) enter();
  }, 150);
  const pressed = (event) => {
    if (document.activeElement !== document.body || !drawer.isConnected) return;
    enter();
    if (event.key === "Escape") drawer.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
  };
  document.addEventListener("keydown", pressed);
  return () => {
    clearTimeout(timer);
    document.removeEventListener("keydown", pressed);
  };
}
