// What can be done with the chosen node. The keys C, P and H do the same; these buttons are for the mouse and for touch.
function chosenNode(state) {
  const { root, own, data } = state,
    { words } = data,
    host = root.querySelector(".lr-lg-chosen");
  const held = focusedIn(host).name;
  const drawn = data.all ? data.nodes : [...state.scene.at.values()],
    node = drawn.find((each) => each.id === own.picked);
  host.replaceChildren();
  host.hidden = !node;
  if (!node) return;
  host.setAttribute(
    "aria-label",
    words.chosen.replace("{name}", () => node.name),
  );
  const name = makeElement("span", "name", host);
  name.title = node.name;
  name.append(`L${node.layer} `);
  makeElement("bdi", "", name, node.name);
  const button = (action, enabled, run, pressed) => {
    const made = makeButton("", host, words[action], run);
    made.dataset.name = action;
    made.disabled = !enabled;
    if (pressed !== undefined) made.setAttribute("aria-pressed", String(pressed));
  };
  button("focus", node.id !== data.focus_id, () => state.ask("centre", node.id));
  if (!data.all) {
    if (node.layer > 0) button("open", !node.open, () => state.ask("open", node.id));
    button("pin", true, () => state.ask("pin", node.id), Boolean(node.pinned));
    button("hide", node.id !== data.focus_id, () => {
      state.hide(node.id);
      root.querySelector(".lr-lg-bar [data-name=undo]")?.focus();
    });
  }
  if (held) (host.querySelector(`[data-name="${held}"]:enabled`) ?? host.querySelector("button:enabled"))?.focus();
}
