// The tables of a site. A shard is a classic script, since a page on a disk may fetch no file; it hands its values,
// deflated and in base64, to leanragShard. Entities are named by layer and row, as "1.23".
/** @type {Map<string, (text: string) => void>} */
const siteWaiting = new Map();
globalThis.leanragShard = (name, text) => siteWaiting.get(name)?.(text);

/** @type {Record<string, any>} */
const SITE_COMPONENTS = {}; // what draws each view, search and inspector; page.py puts them in
const SITE_ENTITIES = 1000, // rows of a shard, as tables.py writes them
  SITE_CHUNKS = 200;

function siteScript(name) {
  return new Promise((done, failed) => {
    siteWaiting.set(name, done);
    const script = document.createElement("script");
    script.src = `data/${name}.js`;
    script.onload = () => script.remove();
    script.onerror = () => failed(Object.assign(new Error(`data/${name}.js`), { isMissing: true }));
    document.head.append(script);
  });
}

async function siteInflated(text) {
  const signs = atob(text),
    bytes = new Uint8Array(signs.length);
  for (let at = 0; at < signs.length; at += 1) bytes[at] = signs.charCodeAt(at);
  const inflated = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(inflated).json();
}

class SiteStore {
  constructor(values) {
    this.values = values;
    this.top = values.sizes.length - 1;
    this.layers = [];
    this.shards = new Map();
  }

  // The values of a shard, loaded when they are first asked for.
  load(name) {
    if (!this.shards.has(name)) this.shards.set(name, siteScript(name).then(siteInflated));
    return this.shards.get(name);
  }

  // Loads the layers from `lowest` up; the others are not needed for what lies above them.
  async open(lowest) {
    const numbers = Array.from({ length: this.top + 1 - lowest }, (_, at) => lowest + at);
    await Promise.all(
      numbers.map(async (number) => {
        this.layers[number] ??= await this.load(`layer-${number}`);
      }),
    );
  }

  // The rows in the layer below, the largest first, of base entities those with most relations.
  children(layer, row) {
    const below = this.layers[layer - 1],
      above = this.layers[layer];
    if (!below) return [];
    if (!above.inner) {
      const weights = layer === 1 ? below.degrees : below.below;
      above.inner = above.names.map(() => []);
      below.parents.forEach((parent, child) => above.inner[parent].push(child));
      for (const inner of above.inner) inner.sort((a, b) => weights[b] - weights[a] || a - b);
    }
    return above.inner[row];
  }

  // How many nodes of a layer lie in a node above it.
  inside(layer, row, target) {
    if (layer === target) return 1;
    if (layer - 1 === target) return this.children(layer, row).length;
    return this.children(layer, row).reduce((sum, child) => sum + this.inside(layer - 1, child, target), 0);
  }

  // From the root down to the parent.
  /** @returns {[number, number][]} */
  ancestors(layer, row) {
    /** @type {[number, number][]} */
    const above = [];
    for (let at = layer, here = row; at < this.top; at += 1)
      above.unshift([at + 1, (here = this.layers[at].parents[here])]);
    return above;
  }

  /** @returns {[number, number]} the root where there is no such entity */
  place(id) {
    const [layer, row] = (id ?? "").split(".").map(Number);
    return layer >= 0 && layer <= this.top && row >= 0 && row < this.values.sizes[layer] ? [layer, row] : [this.top, 0];
  }

  /** @param {number[]} place */
  name([layer, row]) {
    return this.layers[layer].names[row];
  }

  /** @param {number[]} place */
  type([layer, row]) {
    const { typeNames, types } = this.layers[layer],
      type = layer ? "" : typeNames[types[row]];
    return type === "unknown" ? "" : type;
  }

  // What is said of an entity, its chunks, and its strongest relations.
  async about(layer, row) {
    const shard = await this.load(`about-${layer}-${Math.floor(row / SITE_ENTITIES)}`),
      at = row % SITE_ENTITIES;
    shard.starts ??= shard.listed.reduce((starts, n) => [...starts, starts.at(-1) + n], [0]);
    const relations = Array.from({ length: shard.listed[at] }, (_, place) => {
      const one = shard.starts[at] + place;
      return {
        place: [layer, shard.others[one]],
        strength: shard.strengths[one],
        kind: shard.kinds[shard.kind[one]],
        said: shard.said[one],
      };
    });
    return {
      text: shard.texts[at],
      findings: shard.findings[at],
      chunks: shard.chunks[at],
      nChunks: shard.n_chunks[at],
      forms: shard.forms[at] ?? [],
      relations,
    };
  }

  async chunk(row) {
    const [shard, titles] = await Promise.all([
        this.load(`chunks-${Math.floor(row / SITE_CHUNKS)}`),
        this.load("documents"),
      ]),
      at = row % SITE_CHUNKS;
    return {
      text: shard.texts[at],
      title: titles[shard.documents[at]],
      mentions: shard.mentions[at],
      n: shard.n_mentions[at],
    };
  }

  /** @returns {{ places: [number, number][], total: number }} */
  // The entities whose names hold the text: equal names, then those that begin with it, then the others.
  find(text, most) {
    const wanted = text.toLocaleLowerCase(),
      found = [];
    if (!wanted) return { places: [], total: 0 };
    for (let number = this.top; number >= 0; number -= 1) {
      const layer = this.layers[number];
      if (!layer) continue;
      layer.lower ??= layer.names.map((name) => name.toLocaleLowerCase());
      layer.lower.forEach((name, row) => {
        const at = name.indexOf(wanted);
        if (at >= 0) found.push([name === wanted ? 0 : at ? 2 : 1, -layer.degrees[row], number, row]);
      });
    }
    found.sort((a, b) => a[0] - b[0] || a[1] - b[1] || b[2] - a[2] || a[3] - b[3]);
    return { places: found.slice(0, most).map(([, , number, row]) => [number, row]), total: found.length };
  }
}

// Writes a code and values as a sentence, as the catalog's templates have it: {n}, {n:,} and {share:.2f}.
function siteSay(templates, language) {
  return (code, given = {}) => {
    const forms = templates[code],
      form = forms[forms.length > 1 && given.n !== 1 ? forms.length - 1 : 0];
    return form.replace(/\{(\w+)(?::([^}]*))?\}/g, (_, name, how) => {
      const value = given[name];
      if (typeof value !== "number") return String(value ?? `{${name}}`);
      return how === "," ? value.toLocaleString(language) : how ? value.toFixed(Number(how[1])) : String(value);
    });
  };
}
