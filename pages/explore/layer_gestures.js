// Wheel, drag and pinch in the picture. The wheel zooms with Ctrl, or once a person has clicked into the picture; else
// it scrolls the page.
function gestures(state) {
  const { figure, own, data } = state,
    fingers = new Map();
  figure.onwheel = (event) => {
    if (!event.ctrlKey && !event.metaKey && !own.entered) return;
    event.preventDefault();
    const box = figure.getBoundingClientRect();
    state.zoom(Math.exp(-event.deltaY / 400), event.clientX - box.x, event.clientY - box.y);
  };
  figure.onpointerdown = (event) => {
    own.entered = true;
    own.dragged = false;
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
  };
  figure.onpointermove = (event) => {
    const before = fingers.get(event.pointerId);
    if (!before) return;
    const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
    if (fingers.size === 1) {
      if (!own.dragged && Math.hypot(dx, dy) < 4) return;
      if (own.k === 1 && !data.all) return;
      if (!own.dragged) figure.setPointerCapture(event.pointerId);
      own.dragged = true;
      own.x += dx;
      own.y += dy;
      own.moved = performance.now();
      frame(state);
    } else if (fingers.size === 2) {
      const other = [...fingers].find(([id]) => id !== event.pointerId)[1],
        box = figure.getBoundingClientRect();
      const apart = (point) => Math.hypot(point[0] - other[0], point[1] - other[1]);
      own.dragged = true;
      state.zoom(
        apart([event.clientX, event.clientY]) / Math.max(1, apart(before)),
        (event.clientX + other[0]) / 2 - box.x,
        (event.clientY + other[1]) / 2 - box.y,
      );
    }
    fingers.set(event.pointerId, [event.clientX, event.clientY]);
  };
  figure.onpointerup = figure.onpointercancel = (event) => {
    fingers.delete(event.pointerId);
    setTimeout(() => {
      own.dragged = false;
    });
  };
  figure.onmouseleave = () => {
    if (!figure.contains(document.activeElement)) own.entered = false;
  };
}

// One drawing for each frame of the screen, however many events came.
function frame(state) {
  const { own } = state;
  if (own.framed) return;
  own.framed = requestAnimationFrame(() => {
    own.framed = 0;
    state.redraw();
  });
}
