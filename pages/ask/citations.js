// Sentences with citation chips; the first chip keeps together with the last letters before it, and each shows its
// evidence under the pointer and with the focus. Below them all items of the context, cited or not. Texts are set by textContent.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".lr-cites");
  const [host, list, tip] = [".lr-answer", ".lr-evidence", ".lr-tip"].map((name) => root.querySelector(name));
  if (data.last_frame) {
    // for the play of the same retrieval, which may be drawn before or after this
    (globalThis.lrLastFrames ??= new Map()).set(data.last_frame.of, data.last_frame);
    dispatchEvent(new Event("lr-last-frame"));
  }
  if (data.tint) host.style.setProperty("--alone", `var(--lr-${data.tint})`);
  // Above everything: where an answer scrolls in a box of its own, the box would cut it.
  tip.popover = "manual";
  let timer = 0;
  function hide() {
    clearTimeout(timer);
    removeEventListener("scroll", hide, true);
    tip.hidden = true;
    if (tip.matches(":popover-open")) tip.hidePopover();
    if (MARKS.pointed) tellMarks({ pointed: "" });
  }
  function later() {
    clearTimeout(timer);
    timer = setTimeout(hide, 160);
  }
  // The sentences that rest on the mark which is held, and its chips.
  const held = () => {
    for (const sentence of host.querySelectorAll(".sentence"))
      sentence.classList.toggle(
        "held",
        Boolean(sentence.querySelector(`.chip[data-mark="${CSS.escape(MARKS.held)}"]`)),
      );
    for (const chip of root.querySelectorAll(".chip")) chip.classList.toggle("held", chip.dataset.mark === MARKS.held);
  };
  const listen = () => {
    held();
    addEventListener("lr-marks", held);
    return () => removeEventListener("lr-marks", held);
  };
  const click = (chip) => {
    chip.onclick = () => {
      hide();
      setTriggerValue("cited", chip.dataset.mark);
    };
  };
  // The same answer again: its chips stay, since the one that opened a drawer gets the focus back from it.
  const written = JSON.stringify([data.parts, data.items, data.labels, data.compared]) + data.list;
  if (host.dataset.written === written) {
    for (const chip of root.querySelectorAll(".chip")) {
      chip.classList.toggle("on", chip.dataset.mark === data.open);
      click(chip);
    }
    return listen();
  }
  host.dataset.written = written;

  function show(chip, mark) {
    clearTimeout(timer);
    tip.replaceChildren();
    const head = makeElement("div", "head", tip);
    makeElement("b", "", head, mark.name);
    head.append(" ", mark.title);
    const quote = mark.quote.length ? makeText("div", "quote", tip) : null;
    for (const [text, cited] of mark.quote) makeElement(cited ? "mark" : "span", "", quote, text);
    makeElement("div", "foot", tip, [mark.place, data.labels.open].filter(Boolean).join(" · "));
    tip.style.setProperty("--c", `var(--lr-${mark.colour})`);
    tip.hidden = false;
    if (!tip.matches(":popover-open")) tip.showPopover();
    addEventListener("scroll", hide, true);
    tellMarks({ pointed: mark.name });
    const at = chip.getBoundingClientRect(),
      size = tip.getBoundingClientRect();
    const left = Math.max(8, Math.min(at.left - 12, document.documentElement.clientWidth - size.width - 8));
    const below = at.bottom + size.height + 12 < window.innerHeight || at.top < size.height + 12;
    tip.style.left = `${left}px`;
    tip.style.top = `${below ? at.bottom + 6 : at.top - size.height - 6}px`;
  }
  tip.onmouseenter = () => clearTimeout(timer);
  tip.onmouseleave = later;
  root.onkeydown = (event) => {
    if (event.key === "Escape" && !tip.hidden) {
      event.stopPropagation();
      hide();
    }
  };

  function chipOf(mark, state) {
    const looks = ["chip", data.open === mark.name ? "on" : "", state];
    const chip = makeButton(looks.filter(Boolean).join(" "), null, mark.name);
    chip.dataset.section = mark.section;
    chip.dataset.mark = mark.name;
    chip.style.setProperty("--c", `var(--lr-${mark.colour})`);
    const said = state && (state === "used" ? data.labels.cited : data.labels.not_cited);
    chip.setAttribute("aria-label", withColon(mark.name, withCommas(mark.title, said)));
    chip.onmouseenter = () => show(chip, mark);
    chip.onfocus = () => {
      if (chip.matches(":focus-visible")) show(chip, mark);
    };
    chip.onmouseleave = later;
    chip.onblur = later;
    click(chip);
    return chip;
  }

  const sentences = data.parts.map((part) => {
    const sentence = makeElement(
      "span",
      ["sentence", part.alone ? "alone" : data.compared ? "both" : "", part.lacks ? "lacks" : ""].join(" ").trim(),
    );
    const end = part.text.search(/(?:[^\p{M}\s]\p{M}*){1,6}$/u); // a few letters: in Chinese a sentence is one word
    const cut = part.marks.length && end >= 0 ? end : part.text.length;
    makeElement("span", "said", sentence, part.text.slice(0, cut));
    if (part.marks.length) {
      const tail = makeElement("span", "tail", sentence),
        [first, ...others] = part.marks.map((mark) => chipOf(mark, ""));
      makeElement("span", "said", tail, part.text.slice(cut));
      tail.append(" ", first);
      sentence.append(...others);
    }
    if (part.lacks) sentence.append(" ", makeElement("span", "why", null, part.lacks));
    if (part.from) sentence.append(" ", makeElement("span", "from", null, part.from));
    sentence.append(" ");
    return sentence;
  });
  const paragraph = (content) => {
    const made = makeText("p", "");
    made.append(...content);
    return made;
  };
  host.replaceChildren(
    ...(data.list && sentences.length > 1
      ? sentences.map((sentence) => paragraph([sentence]))
      : [paragraph(sentences)]),
  );

  list.setAttribute("aria-label", data.labels.items);
  list.setAttribute("role", "group");
  list.hidden = !data.items.length;
  list.replaceChildren(
    ...data.items.map((section) => {
      const row = makeElement("div", "row"),
        title = makeElement("span", "name", row),
        chips = makeElement("span", "chips", row),
        shown = Math.max(section.cited, 0) + 6;
      title.style.setProperty("--c", `var(--lr-${section.colour})`);
      makeElement("b", "", title, section.title);
      title.append(" ", section.count);
      section.marks.forEach((mark, place) => {
        const chip = chipOf(
          { ...mark, colour: section.colour, section: section.section },
          place < section.cited ? "used" : "unused",
        );
        chip.hidden = place >= shown;
        chips.append(chip);
      });
      if (section.marks.length > shown) {
        const text = data.labels.more.replace("{n}", section.marks.length - shown);
        const more = makeButton("more", chips, text, () => {
          const hidden = [...chips.querySelectorAll(".chip[hidden]")];
          for (const chip of hidden) chip.hidden = false;
          more.remove();
          hidden[0].focus();
        });
      }
      return row;
    }),
  );
  return listen();
}
