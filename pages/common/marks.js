// The citation mark that is pointed at or held, one at a time, for all figures and lists of the page that show it; and
// those of the shown retrieval (`of`) that came by the climb alone. Whoever shows marks listens for "lr-marks".
const MARKS = (globalThis.lrMarks ??= { of: "", brought: [], held: "", pointed: "" });

/** Changes what is pointed at or held, and tells everyone who shows marks.
 * @param {{of?: string, brought?: string[], held?: string, pointed?: string}} change
 */
function tellMarks(change) {
  Object.assign(MARKS, change);
  dispatchEvent(new Event("lr-marks"));
}
