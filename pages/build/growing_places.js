// Where the entities of a growing graph stand. Before there are clusters each has its own place on a spiral, the first
// one in the middle, so that nothing moves when another one comes; then they stand in the circles of their clusters.
const WIDTH = 640,
  HEIGHT = 340,
  MARGIN = 8;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const ROOM = 330; // entities that the spiral has places for: those of the picture and some that merging takes away
const DOT_RADIUS = 4;

/** The place of the entity of that number before there are clusters. */
function spiralPlace(number) {
  const share = Math.sqrt((number + 0.5) / ROOM),
    angle = number * GOLDEN_ANGLE;
  return {
    x: WIDTH / 2 + (WIDTH / 2 - MARGIN) * share * Math.cos(angle),
    y: HEIGHT / 2 + (HEIGHT / 2 - MARGIN) * share * Math.sin(angle),
    r: DOT_RADIUS,
  };
}

/**
 * Places circles beside each other, the largest in the middle; returns the radius of a circle around all.
 * circles: each with its r; x and y are set. stretch: how much wider than high they may spread.
 */
function pack(circles, gap, stretch = 1) {
  const ordered = [...circles].sort((a, b) => b.r - a.r); // stable
  const placed = [],
    unit = 0.35 * Math.min(...circles.map((circle) => circle.r)); // of the spiral on which a place is looked for
  for (const circle of ordered) {
    for (let step = 0; ; step++) {
      const angle = step * GOLDEN_ANGLE,
        far = unit * Math.sqrt(step);
      circle.x = far * stretch * Math.cos(angle);
      circle.y = far * Math.sin(angle);
      if (placed.every((other) => Math.hypot(circle.x - other.x, circle.y - other.y) >= circle.r + other.r + gap))
        break;
    }
    placed.push(circle);
  }
  return Math.max(0, ...circles.map((circle) => Math.hypot(circle.x, circle.y) + circle.r));
}

/**
 * The places of entities and of their clusters' circles.
 * clusters: by layer, the number of the cluster of each entity, or of each cluster below; -1 for what is gone.
 * Returns { dots: by entity, null for what is gone; circles: by layer }. A single cluster, the root, has no circle.
 */
function clusteredPlaces(clusters) {
  const shown = clusters.filter((parents, layer) => layer === 0 || new Set(parents).size > 1);
  const dots = shown[0].map((parent) => (parent < 0 ? null : { x: 0, y: 0, r: DOT_RADIUS }));
  const layers = [dots];
  for (const [layer, parents] of shown.entries()) {
    const groups = [];
    parents.forEach((parent, at) => {
      if (parent >= 0) (groups[parent] ||= []).push(layers[layer][at]);
    });
    layers.push(groups.map((inside) => ({ x: 0, y: 0, r: pack(inside, layer ? 2 : 1.5) + (layer ? 3 : 2.5), inside })));
  }
  const top = layers[layers.length - 1];
  pack(top, 5, WIDTH / HEIGHT);
  const move = (circle, x, y, scale) => {
    circle.x = x;
    circle.y = y;
    circle.r *= scale;
    for (const inner of circle.inside || []) move(inner, x + inner.x * scale, y + inner.y * scale, scale);
  };
  const bound = (edge) => Math.max(...top.map(edge));
  const left = -bound((c) => c.r - c.x),
    right = bound((c) => c.x + c.r),
    up = -bound((c) => c.r - c.y),
    down = bound((c) => c.y + c.r);
  const scale = Math.min((WIDTH - 2 * MARGIN) / (right - left), (HEIGHT - 2 * MARGIN) / (down - up), 2.5);
  for (const circle of top)
    move(
      circle,
      WIDTH / 2 + (circle.x - (left + right) / 2) * scale,
      HEIGHT / 2 + (circle.y - (up + down) / 2) * scale,
      scale,
    );
  return { dots, circles: layers.slice(1) };
}
