"""Running heads and feet: which lines of a paged file they are, and putting them back into the document's text."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from leanrag_core.indexing.parsing.blocks import document_id, is_wide, one_line
from leanrag_core.indexing.parsing.notes import note
from leanrag_core.types.corpus import Document, Heading, Span

_MAX_CHARACTERS = 150
_SAME_PLACE, _SAME_SIZE = 2.0, 0.5  # points
_YEARS = range(1900, 2101)  # numbers that are read as years, not as page numbers
_NUMBER = re.compile(r"\d+")
_SENTENCE_END = re.compile(r"[.!?…。！？؟।][\"'”’)\]»]*$")
_SENTENCE_WORDS, _SENTENCE_IDEOGRAPHS = 4, 6  # least length of a sentence, which also ends like one


@dataclass(frozen=True)
class PageLine:
    """A box of text on a page. page: 1, 2, ... size and places in points, from the page's lower left corner.

    is_fixed_pitch: its letters are all as wide, as those of a typewriter.
    """

    text: str
    page: int
    font: str
    size: float
    left: float
    bottom: float
    right: float
    top: float
    is_fixed_pitch: bool = False


def running_heads(lines: Sequence[PageLine], n_pages: int, *, heading_size: float) -> frozenset[int]:
    """Return the places in `lines` of those that repeat at the top or foot of more than half of the pages.

    Words, font, size and position repeat; numbers are the same or count as the pages do; it is no sentence. In type
    larger than heading_size the numbers must be the same, since Chapter 1 and Chapter 2 are headings.
    """
    alike: dict[tuple[str, str], list[int]] = defaultdict(list)
    for place in _at_edges(lines):
        words = one_line(lines[place].text).lower()
        if len(words) >= _MAX_CHARACTERS or is_sentence(words):
            continue
        masked = head_key(words)
        large = lines[place].size > heading_size and masked != "#"
        alike[words if large else masked, lines[place].font].append(place)
    heads: set[int] = set()
    for places in alike.values():
        for same_size in _split(places, lambda place: lines[place].size, _SAME_SIZE):
            repeated = {
                place
                for row in _split(same_size, lambda place: lines[place].bottom, _SAME_PLACE)
                for place in _repeated([lines[each] for each in row], row)
            }
            if len({lines[place].page for place in repeated}) > n_pages / 2:
                heads |= repeated
    return frozenset(heads)


def is_sentence(text: str) -> bool:
    """Return whether the line ends like a sentence and has the length of one."""
    is_long = len(text.split()) >= _SENTENCE_WORDS or sum(map(is_wide, text)) >= _SENTENCE_IDEOGRAPHS
    return is_long and bool(_SENTENCE_END.search(text))


def head_key(text: str) -> str:
    """Return what is the same in a running head on all pages: its words in small letters, numbers masked."""
    return _NUMBER.sub("#", one_line(text).lower())


def _at_edges(lines: Sequence[PageLine]) -> Iterable[int]:
    """Return the places of the lines in the two highest and the two lowest rows of their pages."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for place, line in enumerate(lines):
        by_page[line.page].append(place)
    for places in by_page.values():
        highest = _second([lines[place].top for place in places])
        lowest = _second([-lines[place].bottom for place in places])
        yield from (place for place in places if lines[place].top >= highest or -lines[place].bottom >= lowest)


def _second(heights: Sequence[float]) -> float:
    """Return the second highest value; heights of one row count once."""
    top = max(heights) - _SAME_PLACE
    return max((height for height in heights if height < top), default=top) - _SAME_PLACE


def _split(places: Sequence[int], value: Callable[[int], float], gap: float) -> list[list[int]]:
    """Return the places in groups whose values are apart by more than the gap."""
    ordered = sorted(places, key=lambda place: (value(place), place))
    groups: list[list[int]] = []
    for place in ordered:
        if groups and value(place) - value(groups[-1][-1]) <= gap:
            groups[-1].append(place)
        else:
            groups.append([place])
    return groups


def _repeated(row: Sequence[PageLine], places: Sequence[int]) -> set[int]:
    """Return those of a row, at the given places, that share an edge or the middle and their numbers with another
    page.
    """
    numbers = [[int(number[-9:]) for number in _NUMBER.findall(line.text)] for line in row]
    positions = list(range(len(row)))
    across: set[int] = set()
    for edge in (lambda n: row[n].left, lambda n: row[n].right, lambda n: (row[n].left + row[n].right) / 2):
        across.update(n for group in _split(positions, edge, _SAME_PLACE) if _n_pages(row, group) > 1 for n in group)
    counted = set(across)
    for which in range(len(numbers[0])):
        pages_of: dict[tuple[str, int], set[int]] = defaultdict(set)
        for n in across:
            for key in _kinds_of_number(numbers[n][which], row[n].page):
                pages_of[key].add(row[n].page)
        counted -= {
            n for n in across if all(len(pages_of[key]) < 2 for key in _kinds_of_number(numbers[n][which], row[n].page))
        }
    return {places[n] for n in counted}


def _kinds_of_number(number: int, page: int) -> tuple[tuple[str, int], ...]:
    """Return what another page's number shares with it: its value, or its distance from that of the page."""
    return (("value", number),) if number in _YEARS else (("value", number), ("distance", number - page))


def _n_pages(row: Sequence[PageLine], group: Sequence[int]) -> int:
    return len({row[n].page for n in group})


def put_back(document: Document, text: str) -> Document:
    """Return the document with that running head put into its text wherever the file has it, each as a paragraph; or
    taken out, where it is in the text. Done twice, it gives the same document again.

    text: of one of them; those that differ in numbers alone are put back with it.
    """
    key, noted = head_key(text), left_out_note(sum(not head.in_text for head in document.running_heads))
    present = any(head.in_text for head in document.running_heads if head_key(head.text) == key)
    for place, head in enumerate(document.running_heads):
        if head_key(head.text) == key and head.in_text == present:
            document = _without(document, place) if present else _with(document, place)
    n_left_out = sum(not head.in_text for head in document.running_heads)
    notes = (*left_out_note(n_left_out), *(note for note in document.notes if note not in noted))
    return replace(document, id=document_id(document.text), notes=notes)


def left_out_note(n: int) -> tuple[str, ...]:
    """Return what the document says of so many running heads that are not in its text; nothing of none."""
    return (note("running_heads", amount=str(n)),) if n else ()


def _with(document: Document, place: int) -> Document:
    head, text = document.running_heads[place], document.text
    start = head.start
    before = "" if not start or text[:start].endswith("\n\n") else "\n\n"
    after = "" if start == len(text) or text.startswith("\n\n", start) else "\n\n"
    added = f"{before}{head.text}{after}"
    return _moved(document, place, f"{text[:start]}{added}{text[start:]}", len(added), start + len(added))


def _without(document: Document, place: int) -> Document:
    head, text = document.running_heads[place], document.text
    return _moved(document, place, text[: head.start] + text[head.end :], head.start - head.end, head.start)


def _moved(document: Document, place: int, text: str, n: int, end: int) -> Document:
    """Return the document with the new text; what follows the running head of that place is n characters further on."""
    head = document.running_heads[place]

    def moved(at: int, follows: bool) -> int:
        return at + n if at > head.end or (at == head.end and follows) else at

    def spans_moved(spans: Iterable[Span]) -> tuple[Span, ...]:
        return tuple(Span(moved(span.start, True), moved(span.end, span.start >= head.end)) for span in spans)

    return replace(
        document,
        text=text,
        pages=tuple(
            Span(moved(span.start, number > head.page), moved(span.end, number >= head.page))
            for number, span in enumerate(document.pages, 1)
        ),
        headings=tuple(
            Heading(each.title, each.level, moved(each.start, True), moved(each.end, each.start >= head.end))
            for each in document.headings
        ),
        boilerplate=spans_moved(document.boilerplate),
        preformatted=spans_moved(document.preformatted),
        running_heads=(
            *document.running_heads[:place],
            replace(head, end=end),
            *(
                replace(later, start=moved(later.start, True), end=moved(later.end, True))
                for later in document.running_heads[place + 1 :]
            ),
        ),
    )
