// The beginning of a document with its chunks: tinted in turn, numbered where they begin, what two share underlined.
// The slider changes the size here, without asking the server. Running heads stand struck out where the file has them,
// and so does what is no prose, with the reason.

// The button that leaves out what is read, or puts it back.
function putButton(mark, isRead, name, data, run) {
  const does = isRead ? data.leave_out : data.put_back;
  if (!data.fixed) makeButton("put", mark, does, run).setAttribute("aria-label", withColon(does, name));
  return mark;
}

function headMark(head, inText, data, put) {
  const mark = makeElement("span", inText ? "head back" : "head");
  makeElement(inText ? "ins" : "del", "", mark, head.text);
  return putButton(mark, inText, head.text, data, () => put(head.key));
}

function asideMark(aside, data, putAside) {
  const mark = makeElement("span", "why");
  makeElement("span", "reason", mark, aside.reason);
  return putButton(mark, aside.read, aside.reason, data, () => putAside(aside.key));
}

function drawn(data, spans, put, putAside) {
  const text = data.text,
    heads = data.heads,
    asides = data.asides;
  const marked = [...heads, ...asides].flatMap((each) => each.span);
  const all = [0, text.length, ...spans.flat(), ...marked];
  const ends = [...new Set(all)].sort((a, b) => a - b),
    pieces = [];
  const absent = (at) => {
    for (const head of heads) {
      if (head.span[0] === at && head.span[1] === at) pieces.push(headMark(head, false, data, put));
    }
  };
  let from = 0;
  for (let n = 0; n + 1 < ends.length; n++) {
    const start = ends[n],
      end = ends[n + 1];
    absent(start);
    while (from < spans.length && spans[from][1] <= start) from++;
    const inside = [];
    for (let place = from; place < spans.length && spans[place][0] <= start; place++) {
      if (spans[place][1] > start) inside.push(place);
    }
    const begun = inside.find((place) => spans[place][0] === start);
    if (begun !== undefined) {
      const number = makeElement("span", "cut", null, String(begun + 1));
      number.dir = "ltr";
      pieces.push(number);
    }
    const kind = inside.length > 1 ? "shared" : inside.length ? (inside[0] % 2 ? "odd" : "even") : "";
    const present = heads.find((head) => head.span[0] <= start && end <= head.span[1]);
    const aside = asides.find((each) => each.span[0] <= start && end <= each.span[1]);
    const shown = [kind, present || (aside && aside.read) ? "back" : "", aside && !aside.read ? "aside" : ""];
    const tag = aside && !aside.read ? "s" : "span";
    pieces.push(makeElement(tag, shown.filter(Boolean).join(" "), null, text.slice(start, end)));
    if (aside && aside.span[1] === end) pieces.push(asideMark(aside, data, putAside));
    if (present && present.span[1] === end && !data.fixed) {
      const mark = headMark(present, true, data, put);
      mark.querySelector("ins").remove();
      pieces.push(mark);
    }
  }
  if (text.length) absent(text.length);
  return pieces;
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-cuts");
  const before = host.querySelector("input"),
    chosen = before ? Number(before.value) : data.chosen;
  const row = makeElement("label", "row");
  makeElement("span", "name", row, data.slider);
  const slider = makeElement("input", "", row),
    foot = makeElement("div", "foot"),
    said = makeElement("output", "said", foot);
  Object.assign(slider, { type: "range", min: "0", max: String(data.sizes.length - 1), value: String(chosen) });
  said.setAttribute("aria-live", "polite");
  const body = makeText("div", "lr-text");
  body.tabIndex = 0;
  body.setAttribute("role", "region");
  body.setAttribute("aria-label", data.title);
  makeButton("use", foot, data.use, () => setTriggerValue("used", Number(slider.value)));
  const put = (head) => setTriggerValue("head", head);
  const putAside = (key) => setTriggerValue("aside", key);
  const show = () => {
    const size = data.sizes[slider.value];
    said.textContent = size.said;
    slider.setAttribute("aria-valuetext", size.said);
    body.replaceChildren(
      ...drawn(data, size.spans, put, putAside),
      makeElement("span", "lr-edge", null, data.more ? ` … ${data.more}` : ""),
    );
  };
  slider.oninput = show;
  show();
  const legend = [data.legend, data.heads.length ? data.heads_legend : "", data.asides_legend]
    .filter(Boolean)
    .join(" ");
  host.replaceChildren(row, foot, makeElement("div", "legend", null, legend), body);
  if (data.later.length) {
    const later = makeElement("div", "later", null, data.elsewhere);
    later.append(...data.later.map((head) => headMark(head, head.in_text, data, put)));
    host.append(later);
  }
}
