// Loads scripts of the pages as a browser has them: joined into one, with their functions at the top level.
import { readFileSync } from "node:fs";
import { createContext, runInContext } from "node:vm";

export const LETTER = 10; // px: the width of every letter in these tests

const pen = { font: "", measureText: (text) => ({ width: LETTER * text.length }) };

// Runs the scripts in a context of their own and returns it; its functions are properties of it.
// paths: below the project's folder.
export function load(...paths) {
  const sources = paths.map((path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf-8"));
  const context = createContext({
    atob,
    document: { documentElement: { lang: "en" }, createElement: () => ({ getContext: () => pen }) },
  });
  runInContext(sources.join("\n").replaceAll("export default ", "globalThis.drawn = "), context);
  return context;
}

// Returns a value of a context as one of this one's, so that both can be compared.
export const plain = (value) => JSON.parse(JSON.stringify(value));
