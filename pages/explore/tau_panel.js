// What another tau would change: the chart of lambda, the table, the suggestion and the button that rebuilds.
// Everything follows from the numbers that came with the panel; only the rebuild asks the server.
// What a tau makes of a layer; lambda > tau is strict.
function atTau(layer, tau) {
  const first = layer.strengths.findIndex((strength) => strength > tau),
    none = first < 0;
  const of = (curve, empty) => (none ? empty : curve[first]);
  const summarised = none ? 0 : layer.counts.slice(first).reduce((sum, count) => sum + count, 0),
    calls = layer.calls;
  return {
    summarised,
    joined: layer.pairs - summarised,
    connected: of(layer.connected, 0),
    largest: of(layer.largest, Math.min(1, layer.n)),
    fresh: calls ? of(calls.fresh, 0) : 0,
    dollars: calls ? of(calls.dollars, 0) : 0,
    freshDollars: calls ? of(calls.freshDollars, 0) : 0,
  };
}

// "2,q0.75": the steps of all layers with those that were moved; equal ones at the end are written once.
function ruleOf(data, state) {
  const steps = [...data.steps];
  for (const layer of data.layers)
    if (state.tau[layer.number] !== undefined && state.tau[layer.number] !== builtTau(layer))
      steps[layer.number - 1] = String(state.tau[layer.number]);
  while (steps.length > 1 && steps[steps.length - 1] === steps[steps.length - 2]) steps.pop();
  return steps.join(",");
}

function builtTau(layer) {
  return layer.built === null ? null : Math.floor(layer.built);
}

function tauOf(layer, state) {
  return state.tau[layer.number] ?? builtTau(layer) ?? layer.suggestion?.tau ?? 3;
}

function isMoved(data, state) {
  return data.layers.some((layer) => tauOf(layer, state) !== builtTau(layer));
}

function dollarsText(value) {
  if (value < 5e-9) return "$0";
  if (value >= 0.0995) return `$${value.toFixed(2)}`;
  return `$${value.toFixed(Math.min(8, 1 - Math.floor(Math.log10(value))))}`;
}

function secondsText(seconds) {
  return seconds < 119.5 ? `${Math.max(1, Math.round(seconds))} s` : `${Math.ceil(seconds / 60)} min`;
}

function changeTable(host, data, layer, state) {
  const tau = tauOf(layer, state),
    built = builtTau(layer),
    now = atTau(layer, tau),
    before = built === null ? null : atTau(layer, built),
    words = data.words;
  const table = makeTable([
      layer.title,
      layer.built === null ? words.unknown : layer.builtText,
      withValues(words.tau, { tau }),
      words.change,
    ]),
    body = table.tBodies[0];
  const row = (title, note, of, show = thousands, difference = signedNumber, changes = true) => {
    const cells = body.insertRow(),
      name = makeElement("th", "", cells, title),
      change = before && changes ? difference(of(now) - of(before)) : "";
    name.scope = "row";
    makeElement("span", "", name, note);
    cells.insertCell().textContent = before ? show(of(before)) : "–";
    makeElement("b", "", cells.insertCell(), show(of(now)));
    makeElement(change ? "b" : "span", change ? "diff" : "none", cells.insertCell(), change || words.none);
  };
  row(words.summarised, words.summarisedNote, (at) => at.summarised);
  row(words.joined, words.joinedNote, (at) => at.joined);
  row(words.connected, layer.ofNodes, (at) => at.connected);
  row(words.islands, words.islandsNote, () => layer.parts, thousands, signedNumber, false);
  if (layer.calls) {
    row(
      words.calls,
      withValues(layer.calls.note, { kept: thousands(now.summarised - now.fresh), fresh: thousands(now.fresh) }),
      (at) => at.summarised,
    );
    row(
      words.cost,
      data.priced ? withValues(words.costNote, { fresh: dollarsText(now.freshDollars) }) : words.noPrice,
      (at) => at.dollars,
      data.priced ? dollarsText : () => "–",
      (value) =>
        Math.abs(value) < 5e-9 || !data.priced ? "" : `${value > 0 ? "+" : "−"}${dollarsText(Math.abs(value))}`,
    );
  } else row(words.calls, words.noCalls, () => 0);
  host.replaceChildren(table);
}

function rebuildRow(host, data, state, rebuild, back) {
  const rule = ruleOf(data, state),
    moved = isMoved(data, state),
    there = data.existing[rule],
    words = data.words;
  host.replaceChildren();
  if (data.rebuilds) {
    const fresh = data.layers.reduce((sum, layer) => sum + Math.max(0, atTau(layer, tauOf(layer, state)).fresh), 0);
    const time = secondsText(data.seconds + fresh * data.secondsACall),
      text = withValues(there ? words.goThere : words.rebuild, { tau: rule, time });
    makeButton("primary", host, text, () => rebuild(rule)).disabled = !moved;
  }
  const suggest = makeButton("secondary", host, words.suggest, () => {
    state.open = !state.open;
    back(null);
  });
  setAttributes(suggest, { "aria-expanded": String(state.open), "aria-controls": "lr-tau-evidence" });
  if (moved) makeButton("plain", host, words.back, () => back("built"));
}

// Two shares by tau: entities in the largest part that summarised relations make, and relations that are summarised.
function evidence(host, data, layer, state, use) {
  const suggestion = layer.suggestion,
    words = data.words;
  host.hidden = !state.open;
  if (!state.open) return;
  host.replaceChildren();
  if (!suggestion) {
    makeElement("p", "", host, words.noSuggestion);
    return;
  }
  makeElement("p", "", host, suggestion.reason);
  const width = Math.max(260, host.clientWidth - 24 || 400),
    height = 128,
    left = 34,
    right = width - 8,
    most = Math.max(suggestion.tau + 2, suggestion.most);
  const svg = make("svg", { width, height: height + 24, role: "img", "aria-label": suggestion.reason }, host),
    x = (tau) => left + ((right - left) * tau) / most,
    y = (share) => 8 + (height - 8) * (1 - share);
  for (const share of [0, 0.5, 1]) {
    makeLine(svg, [left, y(share)], [right, y(share)], "line");
    makeLabel(svg, left - 6, y(share) + 4, `${100 * share} %`, { "text-anchor": "end", "font-size": 11.5 });
  }
  const curve = (share) =>
    Array.from(
      { length: most + 1 },
      (_, tau) => `${tau ? "L" : "M"}${x(tau).toFixed(1)} ${y(share(atTau(layer, tau))).toFixed(1)}`,
    ).join("");
  make(
    "path",
    { d: curve((at) => at.largest / layer.n), fill: "none", stroke: "var(--lr-path)", "stroke-width": 2.2 },
    svg,
  );
  make(
    "path",
    {
      d: curve((at) => at.summarised / layer.pairs),
      fill: "none",
      stroke: "var(--lr-inter)",
      "stroke-width": 2.2,
      "stroke-dasharray": "6 4",
    },
    svg,
  );
  makeLine(svg, [x(suggestion.tau), 4], [x(suggestion.tau), height], "prim", { "stroke-width": 1.5 });
  makeLabel(svg, x(suggestion.tau), height + 17, withValues(words.tau, { tau: suggestion.tau }), {
    "text-anchor": "middle",
    "font-weight": 600,
    fill: "var(--lr-text)",
  });
  if (Math.abs(x(0) - x(suggestion.tau)) > 40) makeLabel(svg, x(0), height + 17, "0", { "text-anchor": "middle" });
  if (x(most) - x(suggestion.tau) > 40) makeLabel(svg, x(most), height + 17, most, { "text-anchor": "end" });
  const key = makeElement("p", "key", host);
  makeElement("span", "largest", key, words.largest);
  makeElement("span", "share", key, words.share);
  makeElement("p", "quantiles", host, suggestion.quantiles);
  makeButton("secondary", host, withValues(words.use, { tau: suggestion.tau }), () => use(suggestion.tau));
}

export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-tau"),
    part = (name) => host.querySelector(`.${name}`);
  const state = (host.lrState =
    host.lrState?.index === data.index
      ? host.lrState
      : { index: data.index, tau: {}, layer: data.layers[0].number, open: false });
  const current = () => data.layers.find((layer) => layer.number === state.layer) || data.layers[0];
  const select = part("layer");
  select.replaceChildren();
  select.hidden = data.layers.length < 2;
  select.setAttribute("aria-label", data.words.chooseLayer);
  for (const layer of data.layers) makeElement("option", "", select, layer.title).value = String(layer.number);
  select.value = String(current().number);
  select.onchange = () => {
    state.layer = Number(select.value);
    draw();
  };
  part("title").textContent = data.words.title;
  part("evidence").setAttribute("aria-label", data.words.suggest);
  part("arrows").replaceChildren();
  makeElement("span", "", part("arrows"), data.words.left);
  makeElement("span", "", part("arrows"), data.words.right);
  const setTau = (layer, tau) => {
    state.tau[layer.number] = tau;
    document.dispatchEvent(new CustomEvent("lr-tau", { detail: { index: data.index, layer: layer.number, tau } }));
  };
  const move = (tau, focus) => {
    setTau(current(), tau);
    draw();
    if (focus) host.querySelector(".handle")?.focus();
  };
  const back = (to) => {
    if (to)
      for (const layer of data.layers) {
        const tau = builtTau(layer);
        if (tau !== null && state.tau[layer.number] !== undefined) setTau(layer, tau);
      }
    draw();
    (to ? host.querySelector(".handle") : host.querySelector("[aria-expanded]"))?.focus();
  };
  function draw() {
    const layer = current();
    part("sub").textContent = layer.about;
    tauChart(part("chart"), layer, tauOf(layer, state), { ...data.words, built: layer.builtLine }, move);
    changeTable(part("change"), data, layer, state);
    rebuildRow(part("actions"), data, state, (rule) => setTriggerValue("rebuild", rule), back);
    evidence(part("evidence"), data, layer, state, (tau) => move(tau, true));
    part("note").textContent = data.note;
  }
  draw();
  return watchWidth(host, draw);
}
