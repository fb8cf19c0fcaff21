// What a component is given as deflated JSON, inflated before its script draws it: see packed() of component.py.
/** @param {(component: any) => (() => void) | void} drawn what draws; it returns what puts its listeners away */
export default (drawn) => (component) => {
  let left = false,
    putAway = undefined;
  inflated(component.data).then((data) => {
    if (!left) putAway = drawn({ ...component, data });
  });
  return () => {
    left = true; // another value has come, or the page has gone: an older one is not drawn behind it
    putAway?.();
  };
};

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function inflated(bytes) {
  const text = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(text).json();
}
