// Copies the text of a container, or the page's link; says so in its own label, which screen readers are told.
export default function (component) {
  const { data, parentElement } = component;
  const button = parentElement.querySelector(".lr-copy");
  button.textContent = data.label;
  button.classList.toggle("link", !data.of);
  button.setAttribute("aria-live", "polite");
  const text = () => data.of ? document.querySelector(`.st-key-${CSS.escape(data.of)} code`)?.textContent ?? "" : location.href;
  // Where a page came without TLS the clipboard is not to be had; a field that is selected can be copied from there.
  const oldWay = (words) => {
    const field = document.createElement("textarea");
    field.value = words;
    field.style.cssText = "position:fixed;opacity:0";
    document.body.append(field);
    field.select();
    const copied = document.execCommand("copy");
    field.remove();
    button.focus();
    return copied;
  };
  let timer = 0;
  button.onclick = async () => {
    const words = text();
    let copied = false;
    try { await navigator.clipboard.writeText(words); copied = true; } catch { copied = oldWay(words); }
    button.textContent = copied ? data.done : data.failed;
    button.classList.toggle("done", copied);
    clearTimeout(timer);
    timer = setTimeout(() => { button.textContent = data.label; button.classList.remove("done"); }, 2500);
  };
  return () => clearTimeout(timer);
}
