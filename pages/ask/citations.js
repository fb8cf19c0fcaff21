// Sentences with citation chips; the first chip keeps together with the last letters before it, and each shows its
// evidence under the pointer and with the focus. Below them all items of the context, cited or not. Texts are set by textContent.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const root = parentElement.querySelector(".lr-cites");
  const [host, list, tip] = [".lr-answer", ".lr-evidence", ".lr-tip"].map((name) => root.querySelector(name));
  const element = (tag, name, text) => {
    const made = document.createElement(tag);
    if (name) made.className = name;
    if (text !== undefined) made.textContent = text;
    return made;
  };
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
    const head = element("div", "head");
    head.append(element("b", "", mark.name), " ", mark.title);
    const quote = element("div", "quote");
    quote.dir = "auto";
    quote.append(...mark.quote.map(([text, cited]) => element(cited ? "mark" : "span", "", text)));
    tip.replaceChildren(
      head,
      ...(mark.quote.length ? [quote] : []),
      element("div", "foot", [mark.place, data.labels.open].filter(Boolean).join(" · ")),
    );
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
    const chip = element(
      "button",
      "chip" + (data.open === mark.name ? " on" : "") + (state ? " " + state : ""),
      mark.name,
    );
    chip.type = "button";
    chip.dataset.section = mark.section;
    chip.dataset.mark = mark.name;
    chip.style.setProperty("--c", `var(--lr-${mark.colour})`);
    const said = state ? `, ${state === "used" ? data.labels.cited : data.labels.not_cited}` : "";
    chip.setAttribute("aria-label", `${mark.name}: ${mark.title}${said}`);
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
    const sentence = element(
      "span",
      ["sentence", part.alone ? "alone" : data.compared ? "both" : "", part.lacks ? "lacks" : ""].join(" ").trim(),
    );
    const end = part.text.search(/(?:[^\p{M}\s]\p{M}*){1,6}$/u); // a few letters: in Chinese a sentence is one word
    const cut = part.marks.length && end >= 0 ? end : part.text.length;
    const said = element("span", "said");
    said.append(part.text.slice(0, cut));
    sentence.append(said);
    if (part.marks.length) {
      const tail = element("span", "tail"),
        [first, ...others] = part.marks.map((mark) => chipOf(mark, ""));
      tail.append(element("span", "said", part.text.slice(cut)), " ", first);
      sentence.append(tail, ...others);
    }
    if (part.lacks) sentence.append(" ", element("span", "why", part.lacks));
    if (part.from) sentence.append(" ", element("span", "from", part.from));
    sentence.append(" ");
    return sentence;
  });
  const paragraph = (content) => {
    const made = element("p");
    made.dir = "auto";
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
      const row = element("div", "row"),
        title = element("span", "name");
      title.style.setProperty("--c", `var(--lr-${section.colour})`);
      title.append(element("b", "", section.title), " ", section.count);
      const chips = element("span", "chips"),
        shown = Math.max(section.cited, 0) + 6;
      section.marks.forEach((mark, place) => {
        const chip = chipOf(
          { ...mark, colour: section.colour, section: section.section },
          place < section.cited ? "used" : "unused",
        );
        chip.hidden = place >= shown;
        chips.append(chip);
      });
      if (section.marks.length > shown) {
        const more = element("button", "more", data.labels.more.replace("{n}", section.marks.length - shown));
        more.type = "button";
        more.onclick = () => {
          const hidden = [...chips.querySelectorAll(".chip[hidden]")];
          for (const chip of hidden) chip.hidden = false;
          more.remove();
          hidden[0].focus();
        };
        chips.append(more);
      }
      row.append(title, chips);
      return row;
    }),
  );
  return listen();
}
