// What of a list matches what is written: every word somewhere, in any order, in any case, with or without accents;
// or the letters one after the other, as in "rpm" for "Requests per minute". Scripts without blanks match by substring.

/** The text without accents, in lower case. */
function folded(text) {
  return text
    .normalize("NFKD")
    .replace(/\p{Mn}+/gu, "")
    .toLowerCase();
}

function wordsOf(text) {
  return folded(text).split(/\s+/).filter(Boolean);
}

// How well a word stands in a text: at its beginning, at that of a word, or inside one; 0 where it does not.
function standing(word, text) {
  const at = text.indexOf(word);
  if (at < 0) return 0;
  if (at === 0) return text.length === word.length ? 5 : 4;
  return new RegExp(`(?<![\\p{L}\\p{N}])${word.replace(/[^\p{L}\p{N}]/gu, "\\$&")}`, "u").test(text) ? 3 : 2;
}

// Whether the letters stand in the text one after the other, each at the beginning of a word or next to the one before.
function initials(letters, text) {
  let from = 0;
  for (const letter of letters) {
    let at = text.indexOf(letter, from);
    while (at > from && /[\p{L}\p{N}]/u.test(text[at - 1])) at = text.indexOf(letter, at + 1);
    if (at < 0 || (at !== from && at > 0 && /[\p{L}\p{N}]/u.test(text[at - 1]))) return false;
    from = at + 1;
  }
  return true;
}

/** How well an item matches these words; 0 where it does not. */
function scoreOf(item, words) {
  if (!words.length) return 1;
  const title = folded(item.title),
    rest = folded(`${item.detail || ""} ${item.also || ""}`);
  let sum = 0;
  for (const word of words) {
    const score = standing(word, title) || (rest.includes(word) ? 0.5 : 0);
    if (!score) return words.length === 1 && word.length > 1 && initials(word, title) ? 0.7 : 0;
    sum += score;
  }
  return sum / words.length;
}

/**
 * The items that match, by kind: the kind of the best match first, and in each kind the best first.
 * most: of each kind.
 */
function grouped(items, text, kinds, most) {
  const words = wordsOf(text);
  const scored = items.map((item) => ({ item, score: scoreOf(item, words) })).filter((each) => each.score > 0);
  const groups = kinds.map((kind) => {
    const own = scored.filter((each) => each.item.kind === kind).sort((a, b) => b.score - a.score); // stable
    return { kind, best: own.length ? own[0].score : 0, items: own.slice(0, most).map((each) => each.item) };
  });
  return groups.filter((group) => group.items.length).sort((a, b) => b.best - a.best);
}

/** The title in pieces, [text, whether it was written]: what the words match is marked. */
function pieces(title, words) {
  const letters = [...title];
  let plain = "";
  const from = []; // the letter of the title that each one of `plain` comes from
  letters.forEach((letter, at) => {
    for (const unit of folded(letter).split("")) {
      plain += unit;
      from.push(at);
    }
  });
  const marked = letters.map(() => false);
  for (const word of words) {
    for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length))
      for (let unit = at; unit < at + word.length; unit++) marked[from[unit]] = true;
  }
  const made = [];
  letters.forEach((letter, at) => {
    if (made.length && made[made.length - 1][1] === marked[at]) made[made.length - 1][0] += letter;
    else made.push([letter, marked[at]]);
  });
  return made;
}
