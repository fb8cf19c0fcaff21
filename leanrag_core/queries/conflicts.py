"""Quotes that contradict each other, found by rules, without a model, which may judge them afterwards.

Either an attribute that can have one value (when it was founded, how high it is, its capital) has two, or the same
words on two entities are both said and denied. The rules read sentences that name the entity beside the attribute, in
English and Chinese; they know no pronouns and no other wording, and a value that is said of two different times is a
change, not a conflict.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import combinations

from leanrag_core.models.base import LanguageModel
from leanrag_core.models.window import fill_within
from leanrag_core.prompts.catalog import load_prompt
from leanrag_core.text.dates import TimeSpan, date_of_text, time_spans
from leanrag_core.text.sentences import sentence_places
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.calls import Usage
from leanrag_core.types.conflicts import DENIED, VALUE, Conflict, ConflictReport, Quote
from leanrag_core.types.graph import Relation
from leanrag_core.types.index import Index

_DATED = {
    "founded": "founded|established|formed|set\\s+up|incorporated|成立|创立|创办|创建",
    "born": "born|出生|生",
    "died": "died|逝世|去世",
    "built": "built|constructed|completed|erected|建成|建造|竣工",
    "opened": "opened|inaugurated|开放|开馆|开业|通车",
    "closed": "closed|shut\\s+down|dissolved|abolished|关闭|解散|撤销",
    "published": "published|released|出版|发行|发布",
}
_MEASURED = {"height": "high|tall|高", "length": "long|长", "width": "wide|宽", "depth": "deep|深"}
_HAS = {
    "inhabitants": "inhabitants|residents|人口",
    "employees": "employees|staff|员工",
    "members": "members|成员|会员",
}
_METRES = {
    **dict.fromkeys(("m", "metre", "metres", "meter", "meters", "米"), 1.0),
    **dict.fromkeys(("km", "kilometre", "kilometres", "kilometer", "kilometers", "公里", "千米"), 1000.0),
    **dict.fromkeys(("cm", "centimetre", "centimetres", "centimeter", "centimeters", "厘米"), 0.01),
    **dict.fromkeys(("ft", "foot", "feet"), 0.3048),
    **dict.fromkeys(("mile", "miles"), 1609.344),
}
_NUMBER = r"(?P<number>\d[\d,]*(?:\.\d+)?)\s*(?P<scale>million|billion|万|亿)?"
_SCALES = {"million": 1e6, "billion": 1e9, "万": 1e4, "亿": 1e8}
_UNIT = rf"(?P<unit>{'|'.join(sorted(_METRES, key=len, reverse=True))})(?![a-z])"
_ASIDE = r"\s*(?:\([^)]{0,80}\)\s*|,[^,.;]{0,60},\s*)?"
_BE = (
    r"(?:was|were|is|are|has\s+been|had\s+been|which\s+was|stands|measures|rises)?\s*"
    r"(?:first|originally|officially|about|around|only|some)?\s*"
)
_PLACE = r"(?P<place>[A-Z][\w'’.-]*(?:\s+(?:[A-Z][\w'’.-]*|of|de|la))*|[\u4e00-\u9fff]{2,8}?(?=[，。、；]|$))"
_EVENTS, _SPANS, _KINDS = (
    "|".join(f"(?P<{name}>{words})" for name, words in each.items()) for each in (_DATED, _MEASURED, _HAS)
)
_VERBS = re.compile(rf"{_ASIDE}{_BE}(?:{_EVENTS})(?![a-z])", re.IGNORECASE)
_DATE_FIRST = re.compile(rf"\s*(?:于|在)(?P<date>[^，。；]{{4,16}}?)(?:正式)?(?:{_EVENTS})")
_SIZES = re.compile(rf"{_ASIDE}{_BE}{_NUMBER}\s*-?{_UNIT}\s*-?(?:{_SPANS})(?![a-z])", re.IGNORECASE)
_SIZES_CN = re.compile(rf"\s*(?:全)?(?:{_SPANS})度?(?:为|是|约|达)*\s*{_NUMBER}\s*{_UNIT}")
_SIZES_OF = re.compile(
    rf"(?:'s|’s|\s+has\s+an?|\s*的)\s*(?P<of>height|length|width|depth|高度|长度|宽度|深度)\s*(?:of|is|was|为|是)\s*(?:about\s+|约)?{_NUMBER}\s*{_UNIT}",
    re.IGNORECASE,
)
_SIZE_OF = re.compile(r"\b(?P<of>height|length|width|depth)\s+of\s+(?:the\s+)?$", re.IGNORECASE)
_SIZE_IS = re.compile(rf"\s+(?:is|was)\s+(?:about\s+)?{_NUMBER}\s*{_UNIT}", re.IGNORECASE)
_OF = {"高度": "height", "长度": "length", "宽度": "width", "深度": "depth"}
_COUNTS = re.compile(
    rf"{_ASIDE}(?:has|had|have|有|拥有|共有)\s*(?:about|around|some|约)?\s*(?:a\s+population\s+of\s+(?P<population>)|)\s*{_NUMBER}\s*(?:名|位|个)?\s*"
    rf"(?:{_KINDS}|(?<=[\d\s]))(?![a-z])",
    re.IGNORECASE,
)
_CAPITAL = re.compile(
    rf"(?:\b(?:the\s+)?capital(?:\s+city)?\s+of\s+(?:the\s+)?(?P<name>[^,.;]{{2,60}}?)\s+(?:is|was)\s+|的?首都(?:是|为)){_PLACE}"
)
_SEATED = re.compile(
    rf"{_ASIDE}(?:is|was)\s+(?:headquartered|based)\s+(?:in|at)\s+{_PLACE}|"
    rf"\s*(?:的)?总部(?:位于|设在|在){_PLACE.replace('place', 'seat')}"
)
_BORN_IN = re.compile(
    rf"{_ASIDE}(?:was\s+)?born\s+(?:in|at)\s+{_PLACE}|\s*(?:出生于|生于){_PLACE.replace('place', 'seat')}"
)
_NEGATION = re.compile(
    r"\b(?:do|does|did|is|are|was|were|has|have|had|can|could|will|would)n['’]t\b|\bnot\b|\bnever\b|\bcannot\b|并非|并不|没有|从未|未曾|并没有|不|未",
    re.IGNORECASE,
)
_CHANGES = re.compile(
    r"\bno\s+longer\b|\bnot\s+(?:yet|only|until|just|always|all)\b|\bany\s?more\b|不再|不仅|不但|尚未", re.IGNORECASE
)
_AUXILIARY = frozenset(
    "do does did is are was were be been has have had can could will would ever a an the also still currently".split()  # noqa: SIM905
)
_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W_]+")
_LINKING = frozenset("and or of in on at to with for from by as than 和 与 及 的 在".split())  # noqa: SIM905
_SHORTEST = 3  # letters of a stem
_NEAR = 60  # characters between what happened and its date
_MOST_WORDS = 10  # between two names; longer statements are hardly ever made twice
_TOLERANCE = 0.02  # of measures: units are rounded


@dataclass(frozen=True)
class _Value:
    """What a sentence says of an attribute. shown: as it says it. when: the dates of the sentence beside it."""

    shown: str
    date: str = ""
    number: float | None = None
    place: str = ""
    when: tuple[TimeSpan, ...] = ()

    def differs(self, other: "_Value") -> bool:
        """Return whether the two cannot both hold."""
        if self.date and other.date:
            known = min(len(self.date), len(other.date))
            return self.date[:known] != other.date[:known]
        if self.number is not None and other.number is not None:
            near = abs(self.number - other.number) <= _TOLERANCE * max(abs(self.number), abs(other.number))
            return not near and not _apart(self.when, other.when)
        if self.place and other.place:
            own_place, other_place = self.place.casefold(), other.place.casefold()
            return own_place not in other_place and other_place not in own_place and not _apart(self.when, other.when)
        return False


def _apart(first: tuple[TimeSpan, ...], second: tuple[TimeSpan, ...]) -> bool:
    """Return whether both are dated, and of different times."""
    return bool(first) and bool(second) and {span.written() for span in first} != {span.written() for span in second}


@dataclass(frozen=True)
class _Statement:
    """What a sentence says. subject: rows of the base entities, one or two. value: of an attribute. denied: the
    sentence says that it is not so of the two entities.
    """

    subject: tuple[int, ...]
    what: str
    value: _Value
    denied: bool
    quote: Quote | None = None


READ_IN_PASSING = 2_000  # chunks of an index whose conflicts are counted without being asked for


def find_conflicts(index: Index) -> ConflictReport:
    """Return all conflicts of the index, by entity and attribute."""
    return _report(index, range(index.chunks.num_rows), None)


def conflicts_of_entity(index: Index, row: int) -> tuple[Conflict, ...]:
    """Return the conflicts of the base entity in that row: of its attributes, and with others."""
    chunks = index.layers[0].chunks_of(row).tolist()
    return _report(index, chunks, frozenset((row,))).conflicts


def conflicts_of_relation(index: Index, relation: Relation) -> tuple[Conflict, ...]:
    """Return the conflicts between the ends of a base relation, and of attributes of either."""
    if relation.layer:
        return ()
    ends = frozenset((relation.source, relation.target))
    source, target = (set(index.layers[0].chunks_of(row).tolist()) for row in (relation.source, relation.target))
    listed = _report(index, sorted(source & target), ends).conflicts
    ids = {index.layers[0].entity_cells.value("id", row) for row in ends}
    return tuple(conflict for conflict in listed if conflict.kind == DENIED and set(conflict.entities) == ids)


def _report(index: Index, chunks: Iterable[int], only: frozenset[int] | None) -> ConflictReport:
    """Return what the chunks contradict. only: entities of which at least one must be named."""
    dates = cache(lambda document: date_of_text(index.document_cells["text"][document].as_py()))
    statements: dict[tuple[str, tuple[int, ...]], list[_Statement]] = defaultdict(list)
    read_places: set[tuple[int, int]] = set()
    n_statements = 0
    for row in chunks:
        chunk = index.chunk(row)
        document = index.chunk_cells.value("document", row)
        for start, end in sentence_places(chunk.text):
            if (document, chunk.start + start) in read_places:  # where chunks overlap
                continue
            read_places.add((document, chunk.start + start))
            text = " ".join(chunk.text[start:end].split())
            for stated in _statements(index, int(row), text, only):
                n_statements += 1
                name = index.document_cells.value("name", document)
                quote = Quote(text, int(row), start, end, name, dates(document), stated.value.shown)
                statements[stated.what, stated.subject].append(replace(stated, quote=quote))
    conflicts = [
        conflict
        for key in sorted(statements, key=lambda key: (key[1], key[0]))
        for conflict in _of(index, statements[key])
    ]
    return ConflictReport(tuple(conflicts), len(read_places), n_statements)


def _of(index: Index, statements: list[_Statement]) -> Iterator[Conflict]:
    """Yield a conflict for each two values, or for what is said and denied, with the first quote of each."""
    kinds: list[_Statement] = []
    for stated in statements:
        if not any(_same(stated, other) for other in kinds):
            kinds.append(stated)
    cells = index.layers[0].entity_cells
    for first, second in combinations(kinds, 2):
        pair = len(first.subject) > 1
        if first.denied != second.denied if pair else first.value.differs(second.value):
            yield Conflict(
                DENIED if pair else VALUE,
                tuple(cells.value("id", row) for row in first.subject),
                tuple(cells.value("name", row) for row in first.subject),
                first.what,
                *(each.quote for each in (first, second) if each.quote is not None),
            )


def _same(first: _Statement, second: _Statement) -> bool:
    return first.denied == second.denied and (len(first.subject) > 1 or not first.value.differs(second.value))


def _statements(index: Index, chunk: int, text: str, only: frozenset[int] | None) -> Iterator[_Statement]:
    """Yield what the sentence says of attributes of an entity, and of two entities in the same words as others."""
    negated = _NEGATION.search(text) is not None
    named = list(_named(index, chunk, text))
    for row, start, end in named:
        if only is None or row in only:
            for what, value in _attributes(text, start, end):
                if not negated:
                    yield _Statement((row,), what, value, False)
    for (source, _, end), (target, start, _) in combinations(sorted(named, key=lambda each: each[1:]), 2):
        if end <= start and (only is None or only & {source, target}):
            between = _said_between(text[end:start])
            if between is not None:
                yield _Statement((source, target), between[0], _Value(text[end:start].strip()), between[1])


def _named(index: Index, chunk: int, text: str) -> Iterator[tuple[int, int, int]]:
    """Yield row, start and end of each entity of the chunk that the sentence names, at its first place; of names that
    lie in one another the longest."""
    lowered, names = text.casefold(), index.layers[0].entity_cells["name"]
    places: list[tuple[int, int, int]] = []
    if len(lowered) != len(text):  # a letter that folds into two: places would shift
        return
    for row in index.entity_chunks[:, [chunk]].nonzero()[0].tolist():
        name = names[row].as_py()
        match = _name_pattern(name).search(lowered)
        if match:
            places.append((row, match.start(), match.end()))
    for row, start, end in places:
        if not any(first <= start and end <= last and (first, last) != (start, end) for _, first, last in places):
            yield row, start, end


@cache
def _name_pattern(name: str) -> re.Pattern[str]:
    folded = re.escape(" ".join(name.split()).casefold())
    return re.compile(rf"(?<![a-z0-9]){folded}(?![a-z0-9])" if name[:1].isascii() else folded)


def _attributes(text: str, start: int, end: int) -> Iterator[tuple[str, _Value]]:
    """Yield attributes that the sentence says of the name at that place, which stands before or after them."""
    after, spans = text[end:], time_spans(text)
    if match := _VERBS.match(after):
        what = str(match.lastgroup)
        date = next((span for span in spans if span.is_point and 0 <= span.start - end - match.end() < _NEAR), None)
        if date is not None and date.since == date.until:
            yield what, _Value(text[date.start : date.end], date=date.since)
    elif match := _DATE_FIRST.match(after):
        [*dates] = (span for span in time_spans(match["date"]) if span.is_point)
        if len(dates) == 1:
            yield str(match.lastgroup), _Value(match["date"], date=dates[0].since)
    if (size := _SIZE_OF.search(text[:start])) and (match := _SIZE_IS.match(after)):
        yield (
            size["of"].lower(),
            _Value(match[0].strip(), number=_number(match) * _METRES[match["unit"].lower()], when=spans),
        )
    for pattern in (_SIZES, _SIZES_CN, _SIZES_OF):
        if match := pattern.match(after):
            groups = match.groupdict()
            what = next((name for name in _MEASURED if groups.get(name)), str(groups.get("of")).lower())
            metres = _number(match) * _METRES[match["unit"].lower()]
            yield _OF.get(what, what), _Value(match[0].strip(), number=metres, when=spans)
            break
    if match := _COUNTS.match(after):
        what = "inhabitants" if match["population"] else next((name for name in _HAS if match[name]), "")
        if what:
            yield what, _Value(match[0].strip(), number=_number(match), when=spans)
    yield from _places(text, start, end, spans)


def _places(text: str, start: int, end: int, spans: tuple[TimeSpan, ...]) -> Iterator[tuple[str, _Value]]:
    match = _CAPITAL.search(text)
    if match and (match["name"] or "").casefold() == text[start:end].casefold():
        yield "capital", _Value(match["place"], place=match["place"], when=spans)
    for what, pattern in (("capital", _CAPITAL), ("headquarters", _SEATED), ("birthplace", _BORN_IN)):
        if place_match := pattern.match(text, end):
            groups = place_match.groupdict()
            place = groups.get("place") or groups.get("seat") or ""
            if place and not groups.get("name"):
                yield what, _Value(place, place=place, when=spans)


def _number(match: re.Match[str]) -> float:
    return float(match["number"].replace(",", "")) * _SCALES.get((match["scale"] or "").lower(), 1.0)


def _said_between(between: str) -> tuple[str, bool] | None:
    """Return the stems of the words between two names without a negation, and whether there was one; None for words
    that say too little or too much to be compared.
    """
    if _CHANGES.search(between) or re.search(r"[,;:，；：.()]", between):
        return None
    plain, n = _NEGATION.subn(" ", between)
    words = [_stem(word) for word in _WORD.findall(plain.casefold()) if word not in _AUXILIARY]
    if not words or len(words) > _MOST_WORDS or n > 1 or all(word in _LINKING for word in words):
        return None
    return " ".join(words), n == 1


def _stem(word: str) -> str:
    for ending in ("ied", "ies", "ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST:
            word = word[: -len(ending)] + ("y" if ending in ("ied", "ies") else "")
            break
    return word.removesuffix("e")


TASK = "judge_conflict"
CONTRADICTION, CHANGE, AGREEMENT, UNCLEAR = "contradiction", "change", "agreement", "unclear"
_VERDICT = re.compile(rf"\b({CONTRADICTION}|{CHANGE}|{AGREEMENT})\b", re.IGNORECASE)


@dataclass(frozen=True)
class ConflictVerdict:
    """What a model says of a contradiction: CONTRADICTION, CHANGE, AGREEMENT, or UNCLEAR for another reply."""

    verdict: str
    usage: Usage


def judge_cost(conflicts: Sequence[Conflict]) -> int:
    """Return the tokens of the prompts that ask about these contradictions, one call each."""
    prompt = load_prompt(TASK)
    return sum(count_tokens(prompt.fill(**_fields(conflict))) for conflict in conflicts)


def judge(conflict: Conflict, language: LanguageModel) -> ConflictVerdict:
    """Ask the model whether the two quotes contradict each other. Raises what the model's call raises."""
    prompt = load_prompt(TASK)
    content = fill_within(language, prompt, keep=("what", "names"), **_fields(conflict))
    reply = language.complete([{"role": "user", "content": content}], task=prompt.fingerprint)
    words = Counter(word.lower() for word in _VERDICT.findall(reply.text))
    return ConflictVerdict(next(iter(words)) if len(words) == 1 else UNCLEAR, reply.usage)


def _fields(conflict: Conflict) -> dict[str, str]:
    quotes = (conflict.first, conflict.second)
    first, second = (f"{each.text} (document of {each.date})" if each.date else each.text for each in quotes)
    return {"what": conflict.what, "names": " and ".join(conflict.names), "first": first, "second": second}
