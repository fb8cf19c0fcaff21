// Sentences with citation chips; a chip keeps together with the last word before it.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-answer");
  // The same answer again: its chips stay, since the one that opened a drawer gets the focus back from it.
  const written = JSON.stringify(data.parts) + data.list;
  if (data.tint) host.style.setProperty("--alone", `var(--lr-${data.tint})`);
  if (host.dataset.written === written) {
    for (const chip of host.querySelectorAll(".chip")) {
      chip.classList.toggle("on", chip.textContent === data.open);
      chip.onclick = () => setTriggerValue("cited", chip.textContent);
    }
    return;
  }
  host.dataset.written = written;
  const sentences = data.parts.map((part) => {
    const sentence = document.createElement("span");
    if (part.alone) sentence.className = "alone";
    const cut = part.marks.length ? part.text.lastIndexOf(" ") + 1 : part.text.length;
    sentence.append(part.text.slice(0, cut));
    if (part.marks.length) {
      const tail = document.createElement("span");
      tail.className = "tail";
      tail.append(part.text.slice(cut), " ");
      for (const mark of part.marks) {
        const chip = document.createElement("button");
        chip.type = "button";
        chip.className = "chip" + (data.open === mark.name ? " on" : "");
        chip.dataset.section = mark.section;
        chip.style.setProperty("--c", `var(--lr-${mark.colour})`);
        chip.textContent = mark.name;
        chip.title = mark.title;
        chip.setAttribute("aria-label", `Citation ${mark.name}: ${mark.title}`);
        chip.onclick = () => setTriggerValue("cited", mark.name);
        tail.append(chip);
      }
      sentence.append(tail);
    }
    if (part.from) {
      const from = document.createElement("span");
      from.className = "from";
      from.textContent = part.from;
      sentence.append(" ", from);
    }
    sentence.append(" ");
    return sentence;
  });
  if (data.list && sentences.length > 1) {
    host.replaceChildren(...sentences.map((sentence) => { const line = document.createElement("p"); line.dir = "auto"; line.append(sentence); return line; }));
  } else {
    const paragraph = document.createElement("p");
    paragraph.dir = "auto";
    paragraph.append(...sentences);
    host.replaceChildren(paragraph);
  }
}
