// The passages of a column in lines: mark, name, gold, how often cited, and the columns that have it. A click opens one.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-ckrows");
  host.replaceChildren();
  for (const row of data.rows) {
    const line = makeButton("ck" + (row.alone ? " alone" : ""), host, undefined, () =>
      setTriggerValue("opened", row.id),
    );
    line.title = row.about;
    const mark = makeElement("span", row.mark ? "lr-mark" : "out", line, row.mark || "–");
    mark.style.setProperty("--c", "var(--lr-chunk)");
    makeElement("span", "n", line, row.name);
    if (row.gold) makeElement("span", "gold", line, row.gold);
    makeElement("span", "ct", line, row.cited);
    const own = makeElement("span", "own", line);
    setAttributes(own, { role: "img", "aria-label": row.retrievedBy });
    own.title = row.retrievedBy;
    for (const letter of data.letters) {
      const square = makeElement("i", row.owners.includes(letter) ? "y" : "", own, letter);
      square.style.setProperty("--c", `var(--lr-column-${letter.toLowerCase()})`);
    }
  }
}
