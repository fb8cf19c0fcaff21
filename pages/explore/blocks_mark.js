// The chosen block is told apart from the blocks, so that choosing another one does not send them again.
export default function (component) {
  globalThis.lrPicked = component.data.picked;
  document.dispatchEvent(new CustomEvent("lr-picked", { detail: component.data.picked }));
}
