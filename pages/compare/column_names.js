// The name of a column is written anew where it stands: double click, F2 or Enter on it opens a field; Enter or a click
// elsewhere keeps what is written, Esc leaves the name as it was.
export default function (component) {
  const { data, setTriggerValue } = component;

  /** @param {HTMLElement} name */
  const edit = (name) => {
    const before = name.textContent ?? "",
      letter = /st-key-compare_col_(\w)/.exec(name.closest("[class*=st-key-compare_col_]")?.className ?? "")?.[1],
      field = document.createElement("input");
    Object.assign(field, { className: "lr-rename", value: before, maxLength: data.longest });
    field.setAttribute("aria-label", data.named);
    let done = false;
    const end = (/** @type {boolean} */ keeps) => {
      if (done) return;
      done = true;
      const written = field.value.trim(),
        hadFocus = document.activeElement === field;
      field.remove();
      name.hidden = false;
      if (hadFocus) name.focus();
      if (keeps && written !== before) setTriggerValue("renamed", { letter, name: written });
    };
    field.onblur = () => end(true);
    field.onkeydown = (event) => {
      event.stopPropagation(); // Enter and Esc of the settings beside the columns are others
      if (event.isComposing) return;
      if (event.key === "Enter") end(true);
      else if (event.key === "Escape") end(false);
    };
    name.hidden = true;
    name.after(field);
    field.select();
  };

  /** @param {Event} event */
  const begin = (event) => {
    const name = event.target;
    if (!(name instanceof HTMLElement) || !name.matches(".lr-renames")) return;
    if (event instanceof KeyboardEvent && !["F2", "Enter"].includes(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    edit(name);
  };
  const page = document.querySelector(".st-key-compare_columns");
  for (const kind of ["dblclick", "keydown"]) page?.addEventListener(kind, begin);
  return () => {
    for (const kind of ["dblclick", "keydown"]) page?.removeEventListener(kind, begin);
  };
}
