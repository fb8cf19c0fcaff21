// Large data of a component comes as deflated JSON (component.py) and is inflated before the component is drawn. Before
// it is drawn again, the listeners of its last drawing are removed: Streamlit itself removes them only when the component
// leaves the page.
/** @type {WeakMap<Element, () => void>} */
const removals = new WeakMap(); // by the element that the component is drawn in

/**
 * @param {(component: any) => (() => void) | void} draw returns the function that removes its listeners
 * @returns {(component: any) => () => void}
 */
export default function inflating(draw) {
  return (component) => {
    removals.get(component.parentElement)?.();
    let outdated = false, // newer data has come, or the page has been left
      remove = undefined;
    const show = (data) => {
      if (!outdated) remove = draw({ ...component, data });
    };
    if (component.data instanceof Uint8Array) inflate(component.data).then(show);
    else show(component.data);
    const removal = () => {
      outdated = true;
      remove?.();
      remove = undefined;
    };
    removals.set(component.parentElement, removal);
    return removal;
  };
}

// Read piece by piece: Response and Blob would wait until the browser has done all else that the page sent meanwhile.
/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const { readable, writable } = new DecompressionStream("deflate");
  const writer = writable.getWriter();
  writer.write(bytes);
  writer.close();
  const reader = readable.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) text += piece.value;
  return JSON.parse(text);
}
