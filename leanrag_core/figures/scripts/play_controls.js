// The bar of a play: back, play or pause, next, a segment for each step under one handle, and the speed.
const SPEEDS = [0.5, 1, 2, 4];

function addHtml(tag, kind, text, parent) {
  const element = document.createElement(tag);
  if (kind) element.className = kind;
  if (text !== undefined && text !== "") element.textContent = text;
  if (parent) parent.append(element);
  return element;
}

function icon(kind, parent) {
  const drawn = make(
    "svg",
    { viewBox: "0 0 24 24", width: 18, height: 18, "aria-hidden": "true", class: "icon" },
    parent,
  );
  const d = {
    back: "M6 5h2v14H6zM20 5v14L9 12z",
    next: "M16 5h2v14h-2zM4 5v14l11-7z",
    play: "M7 4v16l13-8z",
    pause: "M6 5h4v14H6zM14 5h4v14h-4z",
  }[kind];
  make("path", { d, fill: "currentColor" }, drawn);
  return drawn;
}

// do: {back, next, toggle, seek(frame), speed(times)}. Returns show(place, playing), which sets the bar to a frame.
function playBar(parent, data, words, act) {
  const bar = addHtml("div", "bar", "", parent);
  const button = (kind, title, run) => {
    const made = addHtml("button", kind === "play" ? "main" : "", "", bar);
    made.type = "button";
    made.title = title;
    made.setAttribute("aria-label", title);
    made.onclick = run;
    icon(kind, made);
    return made;
  };
  const back = button("back", words.back, act.back),
    toggle = button("play", words.play, act.toggle),
    next = button("next", words.next, act.next);
  const word = addHtml("span", "word", words.play, toggle);
  const track = addHtml("div", "track", "", bar);
  const n = data.frames.length,
    whole = data.segments.length;
  const parts = data.segments.map((segment, place) => {
    const part = addHtml("button", "part", "", track),
      line = addHtml("i", "line", "", part);
    addHtml("u", "", "", line);
    const label = addHtml("span", "title", `${place + 1} ${segment.title}`, part);
    if (segment.count) addHtml("b", "", ` ${segment.count}`, label);
    part.type = "button";
    part.tabIndex = -1; // the handle is reached by Tab, and has the arrows
    part.title = segment.title;
    part.onclick = () => act.seek(segment.last);
    return part;
  });
  const handle = addHtml("span", "handle", "", track);
  const values = { role: "slider", tabindex: "0", "aria-label": words.steps, "aria-valuemin": 1, "aria-valuemax": n };
  for (const [name, value] of Object.entries(values)) handle.setAttribute(name, value);
  handle.onkeydown = (event) => {
    const now = Number(handle.getAttribute("aria-valuenow")) - 1,
      step = data.frames[now].step;
    const to = {
      ArrowLeft: now - 1,
      ArrowDown: now - 1,
      ArrowRight: now + 1,
      ArrowUp: now + 1,
      Home: 0,
      End: n - 1,
      PageUp: data.segments[Math.min(whole - 1, step + 1)].last,
      PageDown: data.segments[Math.max(0, step - 1)].last,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    act.seek(Math.max(0, Math.min(n - 1, to)));
  };
  // The place of a frame within the row of segments, of which each has the same width, and the way back.
  const shareOf = (place) => {
    const { step } = data.frames[place],
      { first, last } = data.segments[step];
    return [step, (place - first + 1) / (last - first + 1)];
  };
  const frameAt = (x, y) => {
    const boxes = parts.map((part) => part.getBoundingClientRect());
    const away = (box) => Math.max(0, box.left - x, x - box.right) + 3 * Math.max(0, box.top - y, y - box.bottom);
    const step = boxes.reduce((best, box, place) => (away(box) < away(boxes[best]) ? place : best), 0);
    const { first, last } = data.segments[step],
      share = (x - boxes[step].left) / boxes[step].width;
    return Math.max(first, Math.min(last, first + Math.floor(share * (last - first + 1))));
  };
  let dragged = false;
  const drag = (event) => {
    if (dragged) act.seek(frameAt(event.clientX, event.clientY));
  };
  handle.onpointerdown = (event) => {
    dragged = true;
    handle.setPointerCapture(event.pointerId);
    event.preventDefault();
    handle.focus();
  };
  handle.onpointermove = drag;
  handle.onpointerup = () => {
    dragged = false;
  };
  handle.onpointercancel = handle.onpointerup;
  const speed = addHtml("select", "speed", "", bar);
  speed.setAttribute("aria-label", words.speed);
  speed.title = words.speed;
  for (const times of SPEEDS) {
    const option = addHtml("option", "", `${times}×`, speed);
    option.value = times;
    option.selected = times === 1;
  }
  speed.onchange = () => act.speed(Number(speed.value));

  function show(place, playing) {
    const [step, share] = shareOf(place),
      part = parts[step],
      line = part.firstChild;
    parts.forEach((each, number) => {
      each.classList.toggle("now", number === step);
      each.classList.toggle("done", number < step);
      each.querySelector("u").style.width = `${number < step ? 100 : number === step ? 100 * share : 0}%`;
    });
    handle.setAttribute("aria-valuenow", place + 1);
    handle.setAttribute(
      "aria-valuetext",
      withColon(data.segments[step].title, data.frames[place].lead + data.frames[place].rest),
    );
    back.disabled = place === 0;
    next.disabled = place === n - 1;
    const state = playing ? "pause" : place === n - 1 ? "again" : "play";
    if (toggle.dataset.state !== state) {
      toggle.dataset.state = state;
      toggle.firstChild.remove();
      toggle.prepend(icon(playing ? "pause" : "play", toggle));
      word.textContent = words[state];
      toggle.title = words[state];
      toggle.setAttribute("aria-label", words[state]);
    }
    // Last, since the word of the button decides how much room the segments have.
    handle.style.left = `${line.offsetLeft + line.offsetWidth * share}px`;
    handle.style.top = `${line.offsetTop + line.offsetHeight / 2}px`;
  }
  return show;
}
