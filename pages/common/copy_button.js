// Copies the text of a container, or the page's link; says so in its own label, which screen readers are told.
export default function (component) {
  const { data, parentElement } = component;
  const button = parentElement.querySelector(".lr-copy");
  const label = (words, sign) => {
    button.replaceChildren();
    makeElement("i", "icon", button, sign).setAttribute("aria-hidden", "true");
    makeElement("span", "", button, words);
  };
  const begin = () => label(data.label, data.of ? "content_copy" : "link");
  begin();
  button.style.visibility = "";
  button.setAttribute("aria-live", "polite");
  const text = () =>
    data.of ? (document.querySelector(`.st-key-${CSS.escape(data.of)} code`)?.textContent ?? "") : location.href;
  // What is on its way to the page is waited for: a click may be quicker than the container's text.
  const awaited = async () => {
    for (let tries = 0; tries < 60 && !text(); tries++) await new Promise((done) => setTimeout(done, 50));
    return text();
  };
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
    const words = await awaited();
    let copied = false;
    try {
      if (words) await navigator.clipboard.writeText(words);
      copied = Boolean(words);
    } catch {
      copied = oldWay(words);
    }
    label(copied ? data.done : data.failed, copied ? "check" : "error");
    clearTimeout(timer);
    timer = setTimeout(begin, 2500);
  };
  return () => clearTimeout(timer);
}
