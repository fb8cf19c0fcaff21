// Draws the neighbourhood of a node with vis-network, which the page's Python puts in front of this text.
// vis-network writes labels on a canvas and tooltips as text, so no name becomes HTML.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-near");
  const drawing = JSON.stringify(data);
  if (host.lrDrawing === drawing) return undefined; // a rerun of the page that changes nothing keeps zoom and selection
  if (host.lrNetwork) host.lrNetwork.destroy();
  host.lrDrawing = drawing;
  host.setAttribute("aria-label", data.label);
  const nodes = new globalThis.vis.DataSet(data.nodes), edges = new globalThis.vis.DataSet(data.edges);
  const network = new globalThis.vis.Network(host, { nodes, edges }, data.options);
  host.lrNetwork = network;
  network.once("afterDrawing", () => network.fit({ animation: false }));
  network.on("click", (event) => { if (event.nodes.length) setTriggerValue("picked", event.nodes[0]); });
  return () => { if (!host.isConnected) { network.destroy(); host.lrNetwork = host.lrDrawing = undefined; } };
}
