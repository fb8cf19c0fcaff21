// The names of clusters on the map. A name stands at its region, on no region of another cluster, on no seed and on no
// other name; where there is no such place it is left out, and counted.
const REGION_EDGE = 8, // px that a region is drawn wider than the hull of its points
  NAME_WIDTHS = [160, 110], // px that the lines of a name may take
  NAMED_REGIONS = 3; // regions of a cluster that its name may stand at

// The corners of a hull, [x, y, x, y, ...] as they were sent, as places in the window.
function cornersOf(numbers, X, Y) {
  const corners = [];
  for (let at = 0; at < numbers.length; at += 2) corners.push([X(numbers[at]), Y(numbers[at + 1])]);
  return corners;
}

// Whether two boxes have a place in common: [left, top, right, bottom].
function boxesMeet(a, b) {
  return a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3];
}

function boundsOf(corners) {
  const xs = corners.map(([x]) => x),
    ys = corners.map(([, y]) => y);
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
}

// Whether a box and a convex region have a place in common: no side of either separates them.
function boxMeetsRegion(box, corners) {
  if (!boxesMeet(box, boundsOf(corners))) return false;
  const [left, top, right, bottom] = box,
    own = [
      [left, top],
      [right, top],
      [right, bottom],
      [left, bottom],
    ];
  return corners.every(([x, y], n) => {
    const [nextX, nextY] = corners[(n + 1) % corners.length],
      across = (/** @type {number[]} */ [px, py]) => (px - x) * (nextY - y) - (py - y) * (nextX - x),
      of = corners.map(across),
      others = own.map(across);
    return Math.max(...others) > Math.min(...of) && Math.max(...of) > Math.min(...others);
  });
}

// Where the name may stand, at the edge of a region or within it: left and top of its box.
function namePlaces([left, top, right, bottom], w, h) {
  const x = (left + right) / 2,
    y = (top + bottom) / 2,
    gap = 3;
  return [
    [x - w / 2, top - h - gap],
    [x - w / 2, bottom + gap],
    [right + gap, y - h / 2],
    [left - w - gap, y - h / 2],
    [left, top - h - gap],
    [right - w, top - h - gap],
    [left, bottom + gap],
    [right - w, bottom + gap],
    [x - w / 2, top],
    [x - w / 2, bottom - h],
    [x - w / 2, y - h / 2],
  ];
}

// The first free place of a name of that size; undefined where there is none.
// bounds: boxes of its own regions. others: corners of the regions of other clusters. taken: boxes.
function freePlace({ bounds, others, taken, width, height, w, h }) {
  return bounds
    .flatMap((each) => namePlaces(each, w, h))
    .find(([left, top]) => {
      const box = [left, top, left + w, top + h],
        wide = [left - REGION_EDGE, top - REGION_EDGE, left + w + REGION_EDGE, top + h + REGION_EDGE];
      return (
        left >= 3 &&
        top >= 3 &&
        box[2] <= width - 3 &&
        box[3] <= height - 3 &&
        !taken.some((each) => boxesMeet(box, each)) &&
        !others.some((corners) => boxMeetsRegion(wide, corners))
      );
    });
}

// Writes the names, the largest cluster first; returns how many were left out.
function nameClusters(svg, clusters, { regions, X, Y, width, height, taken, data, fade }) {
  const largest = Math.max(1, ...clusters.map((cluster) => cluster.size));
  let left_out = 0;
  clusters.forEach((cluster, place) => {
    const size = 12.5 + 2 * (cluster.size / largest),
      font = `600 ${size}px ${FONT}`,
      middle = [X(cluster.at[0]), Y(cluster.at[1])],
      shapes = regions[place].length ? regions[place].slice(0, NAMED_REGIONS) : [[middle]],
      bounds = shapes.map((corners) => {
        const [left, top, right, bottom] = boundsOf(corners);
        return [left - REGION_EDGE, top - REGION_EDGE, right + REGION_EDGE, bottom + REGION_EDGE];
      }),
      others = regions.flatMap((own, at) => (at === place ? [] : own));
    pen.font = font;
    for (const most of NAME_WIDTHS) {
      const lines = wrap(cluster.name, most, 3, font),
        w = Math.max(...lines.map((line) => pen.measureText(line).width)),
        h = lines.length * (size + 2),
        free = freePlace({ bounds, others, taken, width, height, w, h });
      if (!free) continue;
      taken.push([free[0], free[1], free[0] + w, free[1] + h]);
      const group = make("g", { class: `cluster-name${fade(place)}`, fill: data.hues[place] }, svg);
      lines.forEach((line, n) => {
        const y = free[1] + size * 0.85 + n * (size + 2),
          style = `font:${font};unicode-bidi:plaintext`;
        make("text", { x: free[0] + w / 2, y, "text-anchor": "middle", class: "halo", style }, group, line);
      });
      return;
    }
    left_out += 1;
  });
  return left_out;
}
