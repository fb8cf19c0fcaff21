// The play on a page: what was drawn stays as it is while the page runs again, and its step is kept in the URL.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-play");
  const { play, of, words, start, picked, table, links, explorable, reads } = data;
  const signature = JSON.stringify([play, words, explorable, reads]);
  const before = host.lrPlay,
    kept = (globalThis.lrPlayKept ??= {}); // until the page is loaded anew
  // The URL is written without asking the server; while it plays it stays as it is.
  const keep = (now) => {
    if (now.playing || !links.length) return;
    // For the way back from another page, of which the server knows only where the play began.
    kept[links[0]] = { question: play.question, began: JSON.stringify([start, picked, table]), now };
    const url = new URL(location.href);
    [now.name, now.picked, now.table ? "table" : ""].forEach((value, place) =>
      value ? url.searchParams.set(links[place], value) : url.searchParams.delete(links[place]),
    );
    if (url.href !== location.href) history.replaceState(history.state, "", url);
  };
  if (!before || before.signature !== signature) {
    // The same step of another retrieval: a moved slider does not go back to the beginning.
    const last = kept[links[0]],
      began = JSON.stringify([start, picked, table]);
    const left = last?.question === play.question && last.began === began ? last.now : { name: start, picked, table };
    const now = before && before.start === start ? before.shown.now() : left;
    before?.shown.stop();
    const options = {
      start: now.name,
      picked: now.picked,
      table: now.table,
      changed: keep,
      save: (svg) => savePicture(standalone(svg), play.question),
      explore: (id) => setTriggerValue("explore", id),
      explorable: new Set(explorable),
    };
    if (reads) options.read = (id) => setTriggerValue("read", id);
    host.lrPlay = { shown: playRetrieval(host, play, words, options), signature };
  } else if (before.start !== start || before.table !== table) {
    if (before.start !== start) before.shown.go(start);
    if (before.table !== table) before.shown.table(table);
  }
  Object.assign(host.lrPlay, { start, table, of });
  // What its end says of the answer comes with the answer.
  const answered = () => {
    const frame = globalThis.lrLastFrames?.get(of);
    if (frame && host.lrPlay.of === of) host.lrPlay.shown.answered(frame);
  };
  answered();
  addEventListener("lr-last-frame", answered);
  const marked = () => host.lrPlay.shown.mark(MARKS.pointed || MARKS.held, MARKS.of === of ? MARKS.brought : []);
  marked();
  addEventListener("lr-marks", marked);
  // The page writes its URL without what is kept here, at any later run: it is put back.
  const path = location.pathname;
  const restore = () =>
    setTimeout(() => {
      if (host.isConnected && location.pathname === path) keep(host.lrPlay.shown.now());
    }, 100);
  restore();
  globalThis.navigation?.addEventListener("currententrychange", restore);
  return () => {
    removeEventListener("lr-last-frame", answered);
    removeEventListener("lr-marks", marked);
    globalThis.navigation?.removeEventListener("currententrychange", restore);
  };
}
