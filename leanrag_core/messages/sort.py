"""Sorts the catalogs by code: python -m leanrag_core.messages.sort. A merge may put entries in any order."""

import re
import sys
from dataclasses import dataclass

from leanrag_core.messages.catalog import FOLDER

_CODE = re.compile(r'msgid "(.*)"')


@dataclass(frozen=True)
class Entry:
    """A code and the lines of its entry, comments included."""

    code: str
    lines: tuple[str, ...]


def sorted_text(text: str) -> str:
    """Return the catalog with its header first, then each code once, sorted, one blank line between entries.

    Raises ValueError for a code with two different sentences, and for an entry without a sentence.
    """
    header, *entries = _entries(text)
    by_code: dict[str, Entry] = {}
    for entry in entries:
        if not any(line.startswith("msgstr") for line in entry.lines):
            raise ValueError(f"{entry.code} has no msgstr: a merge has mixed it with another entry")
        if by_code.setdefault(entry.code, entry) != entry:
            raise ValueError(f"{entry.code} has two different sentences: keep one of them")
    ordered = [header, *(by_code[code] for code in sorted(by_code))]
    return "\n\n".join("\n".join(entry.lines) for entry in ordered) + "\n"


def _entries(text: str) -> list[Entry]:
    """Return the entries in the order of the text. A blank line between two of them may be missing."""
    entries: list[Entry] = []
    comments: list[str] = []
    for line in filter(None, map(str.rstrip, text.splitlines())):
        start = _CODE.fullmatch(line)
        if start:
            entries.append(Entry(start[1], (*comments, line)))
            comments = []
        elif line.startswith("#"):
            comments.append(line)
        else:
            entries[-1] = Entry(entries[-1].code, (*entries[-1].lines, line))
    return entries


def main() -> int:
    """Write every catalog sorted. Returns 1 when one of them needs an editor."""
    failed = 0
    for path in sorted(FOLDER.glob("*.po")):
        try:
            path.write_text(sorted_text(path.read_text(encoding="utf-8")), encoding="utf-8", newline="\n")
        except ValueError as error:
            print(f"{path}: {error}", file=sys.stderr)
            failed = 1
    return failed


if __name__ == "__main__":
    sys.exit(main())
