"""Sentences of a text that people read: split for answers, kept whole where a text is cut."""

import re

# A sentence begins with a digit, a capital (Latin, Greek, Cyrillic, Armenian), or a letter that has no capitals.
_BEGINS = "A-Z0-9\u00c0-\u00d6\u00d8-\u00de\u0386-\u03ab\u0400-\u042f\u0531-\u0556\u05d0-\u1c7f\u3040-\ud7ff"
# The first group is a quick test that most characters fail, so that the branches are seldom tried.
_SENTENCE_END = re.compile(
    r"(?:(?=\s)|(?<=[。！？”’」』）؟۔।॥]))(?:"
    rf"(?:(?<=[.!?])|(?<=[.!?][\"')\]]))\s+(?=[\"'(\[¿¡«]?[{_BEGINS}])|(?<=[。！？])(?![”’」』）])|(?<=[。！？][”’」』）])|(?<=[؟۔।॥])\s*"
    r"|\n{2,}|\n(?=[-*] ))"
)
_ABBREVIATION = re.compile(r"(?:\b(?:[A-Z]|Dr|Mr|Mrs|Ms|St|No|vs|cf|e\.g|i\.e|etc|approx|Inc|Ltd|Co))\.$")
_END = re.compile(r"[.!?؟۔।॥][\"'”’)\]]*(?=\s|$)|[。！？][”’」』)]*")
_END_OR_LINE = re.compile(rf"{_END.pattern}|\n")
# A quotation within a paragraph, for each kind of marks. An apostrophe ends one behind punctuation alone: "bees' hive".
_LONGEST_QUOTATION = 300  # characters
_QUOTATIONS = tuple(
    re.compile(rf"{opens}(?:[^\n{other}]|\n(?!\n)){{1,{_LONGEST_QUOTATION}}}?{closes}")
    for opens, other, closes in (
        ("“", "“”", "”"),
        (r'"(?<!\w")(?=\w)', '"', r'"(?!\w)'),
        (r"['‘](?<!\w['‘])(?=\w)", '"“”', r"['’](?<=[.,!?;:—]['’])(?!\w)"),
    )
)


def ends_with_abbreviation(text: str) -> bool:
    """Return whether the last full stop belongs to an abbreviation or an initial."""
    return _ABBREVIATION.search(text) is not None


def up_to_last_sentence(text: str, *, lines: bool = False) -> str:
    """Return the text up to its last sentence end, unless that would lose more than half of it. lines: a line ends
    one too."""
    ends = [match.end() for match in (_END_OR_LINE if lines else _END).finditer(text)]
    return text[: ends[-1] if ends and 2 * ends[-1] >= len(text) else len(text)].rstrip()


def in_one_line(text: str) -> str:
    """Return the text in one line, white space folded."""
    return " ".join(text.split())


def split_sentences(text: str) -> list[str]:
    """Return the sentences of a text, white space folded; abbreviations and initials do not end one."""
    sentences: list[str] = []
    for piece in _SENTENCE_END.split(text):
        piece = " ".join(piece.split())
        if sentences and ends_with_abbreviation(sentences[-1]):
            sentences[-1] = f"{sentences[-1]} {piece}"
        elif piece:
            sentences.append(piece)
    return sentences


def sentence_places(text: str) -> list[tuple[int, int]]:
    """Return where each sentence of split_sentences() begins and ends in the text, without the white space around."""
    places: list[tuple[int, int]] = []
    start = 0
    for end, following in [*((match.start(), match.end()) for match in _SENTENCE_END.finditer(text)), (len(text),) * 2]:
        piece = text[start:end]
        if piece.strip():
            begins, ends = start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip())
            if places and ends_with_abbreviation(text[slice(*places[-1])]):
                begins = places.pop()[0]
            places.append((begins, ends))
        start = following
    return places


def sentences_with_quotations(text: str) -> list[str]:
    """Return the sentences as split_sentences() does, but those that a short quotation joins as one: "he said, 'I know
    him! It is Marley!' and fell again" has no sentence that begins with It."""
    quotations = [match.span() for kind in _QUOTATIONS for match in kind.finditer(text)]
    places: list[tuple[int, int]] = []
    for begins, ends in sentence_places(text):
        if places and any(opens < places[-1][1] <= begins < closes for opens, closes in quotations):
            begins = places.pop()[0]
        places.append((begins, ends))
    return [in_one_line(text[begins:ends]) for begins, ends in places]
