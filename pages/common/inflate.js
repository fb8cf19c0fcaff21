// Large data of a component comes as deflated JSON (component.py) and is inflated before the component is drawn.
/**
 * @param {(component: any) => (() => void) | void} draw returns the function that removes its listeners
 * @returns {(component: any) => (() => void) | void}
 */
export default function inflating(draw) {
  return (component) => {
    if (!(component.data instanceof Uint8Array)) return draw(component);
    let outdated = false,
      remove = undefined;
    inflate(component.data).then((data) => {
      if (!outdated) remove = draw({ ...component, data });
    });
    return () => {
      outdated = true; // newer data has come, or the page has been left
      remove?.();
    };
  };
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflate(bytes) {
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(text).json();
}
