// The page's presentation, over the whole window.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lrp");
  const view = new DeckView(host, data.deck, { close: () => setTriggerValue("closed", true) });
  return () => view.end();
}
