// Enter in a field of the panel writes its value and moves on to Apply, so that a second Enter applies.
export default function (component) {
  const panel = document.querySelector(".st-key-compare_panel");
  /** @param {Event} event */
  const moveOn = (event) => {
    if (!(event instanceof KeyboardEvent) || event.key !== "Enter") return;
    const field = event.target;
    if (!(field instanceof HTMLInputElement) || field.role === "combobox") return;
    setTimeout(() => {
      const apply = document.querySelector(".st-key-compare_apply button");
      if (apply instanceof HTMLElement) apply.focus();
    }, 0);
  };
  panel?.addEventListener("keydown", moveOn);
  return () => panel?.removeEventListener("keydown", moveOn);
}
