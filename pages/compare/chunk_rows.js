// The passages of a column in lines: mark, name, gold, how often cited, and the columns that have it. A click opens one.
export default function (component) {
  const { data, parentElement, setTriggerValue } = component;
  const host = parentElement.querySelector(".lr-ckrows");
  host.replaceChildren(
    ...data.rows.map((row) => {
      const line = document.createElement("button");
      line.type = "button";
      line.className = "ck" + (row.alone ? " alone" : "");
      line.title = row.about;
      line.onclick = () => setTriggerValue("opened", row.id);
      const add = (kind, text) => {
        const part = document.createElement("span");
        part.className = kind;
        part.textContent = text;
        line.append(part);
        return part;
      };
      add(row.mark ? "lr-mark" : "out", row.mark || "–").style.setProperty("--c", "var(--lr-chunk)");
      add("n", row.name);
      if (row.gold) add("gold", row.gold);
      add("ct", row.cited);
      const own = add("own", "");
      own.setAttribute("role", "img");
      own.setAttribute("aria-label", row.retrievedBy);
      own.title = row.retrievedBy;
      for (const letter of data.letters) {
        const square = document.createElement("i");
        square.className = row.owners.includes(letter) ? "y" : "";
        square.style.setProperty("--c", `var(--lr-column-${letter.toLowerCase()})`);
        square.textContent = letter;
        own.append(square);
      }
      return line;
    }),
  );
}
