"""Which names mean the same: short forms, acronyms, and the spelling under which an entity is shown."""

import re
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import dropwhile, pairwise, takewhile

from leanrag_core.indexing.extraction.english import english_dictionary
from leanrag_core.indexing.extraction.english_types import VAGUE, company_of, settled_types
from leanrag_core.indexing.extraction.sentences import ReadSentence
from leanrag_core.text.words import FUNCTION_WORDS

_ACRONYM = re.compile(r"\(\s*([A-Z][A-Za-z&-]{0,8}[A-Z]s?|[A-Z]{2,10}s?)\s*\)")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SEVERAL = re.compile(r",| and | & ")
_LARGE = 2_000  # sightings of a corpus; in a smaller one every noun is an entity
_SMALL = frozenset(["of", "and", "for", "the", "in", "on", "to", "a", "an", "de", "la", "du", "et"])
_TITLED = re.compile(r"^(?:mr|mrs|miss|ms|dr|lady|madame|queen|king|prince|princess|saint|st|pope|sir)\b\.?", re.I)


@dataclass(frozen=True)
class Names:
    """Settled names.

    joined: (document, key) to the key of its long form. shown: name of each key. kind: its type in running text.
    passing: keys of plain nouns that a large corpus mentions once, and of labels; these are no entities of it.
    """

    joined: dict[tuple[int, str], str]
    shown: dict[str, str]
    kind: dict[str, str]
    passing: frozenset[str]

    def key(self, document: int, key: str) -> str:
        """Return the key under which a sighting of that document is kept."""
        return self.joined.get((document, key), key)

    def name(self, document: int, key: str) -> str:
        """Return the name that is shown for a sighting of that document."""
        return self.shown[self.key(document, key)]


def acronyms_in(text: str) -> tuple[tuple[str, str], ...]:
    """Return (short, long) for every "Long Form (LF)" whose initials fit, e.g. Integrated Pest Management (IPM)."""
    if "(" not in text:
        return ()
    pairs = []
    for match in _ACRONYM.finditer(text):
        long = _long_form(text[: match.start()], match[1].removesuffix("s"))
        if long:
            pairs.append((match[1], long))
    return tuple(pairs)


def _long_form(before: str, short: str) -> str:
    """Return the shortest run of words that ends the text and whose initials spell the short form; "" when none
    does.
    """
    letters = [letter for letter in short.casefold() if letter.isalpha()]
    words = list(_WORDS.finditer(before))[-2 * len(letters) - 1 :]
    for start in range(len(words) - len(letters), -1, -1):
        run = words[start:]
        if before[run[0].end() : run[-1].start()].count(".") or run[0][0].casefold() in _SMALL:
            continue
        initials = [part[0].casefold() for part in run]
        content = [part[0].casefold() for part in run if part[0].casefold() not in _SMALL]
        if initials == letters or [word[0] for word in content] == letters or [w[0] for w in initials] == letters:
            return before[run[0].start() :].strip(" \"'“”‘’,")
    return ""


def settle_names(sentences: Sequence[ReadSentence], titles: Mapping[str, str]) -> Names:
    """Join short forms and acronyms with the one long form that fits, in their document first, then in the corpus.

    A name is joined with the one person or organization whose name ends with it; within a document also with the one
    person whose name begins with it. Words that are also written small are no names. titles: key to spelling of the
    document titles, which is preferred unless it lacks the text's capitals.
    """
    surfaces: dict[str, Counter[str]] = defaultdict(Counter)
    types: dict[str, Counter[str]] = defaultdict(Counter)
    keys_in: dict[int, dict[str, None]] = defaultdict(dict)
    spelled: dict[str, Counter[str]] = defaultdict(Counter)  # keys by what is written in running text
    labels = _Labels()
    for sentence in sentences:
        labels.read(sentence.text)
        for sighting in sentence.sightings:
            surfaces[sighting.key][sighting.surface] += 1
            types[sighting.key][sighting.type] += 1
            keys_in[sentence.document].setdefault(sighting.key)
            if sighting.type not in ("title", "heading"):
                spelled[sighting.surface.casefold()][sighting.key] += 1
    settled = settled_types(sentences)
    kind = {key: _most_frequent(counted) for key, counted in types.items()}
    kind.update({key: settled[key] for key, named in kind.items() if named not in VAGUE})
    shown = {key: _most_frequent(counted) for key, counted in surfaces.items()}
    written = {key: spelling for key, spelling in titles.items() if key in shown}
    shown.update({key: title for key, title in written.items() if not title.islower() or shown[key].islower()})
    as_spelled = {text: _most_frequent(keys) for text, keys in spelled.items()}
    common = {key for key, counted in surfaces.items() if any(surface.islower() for surface in counted)}
    joined = {
        (document, key): as_spelled[key]
        for document, keys in keys_in.items()
        for key in keys
        if kind[key] in ("title", "heading") and key not in titles and key in as_spelled
    }
    _join_acronyms(joined, sentences, keys_in, as_spelled, shown)
    _join_short_forms(joined, keys_in, kind, shown, common | set(titles))
    _join_articles(joined, keys_in, titles)
    _join_companies(joined, keys_in)
    _fold_single_mentions(joined, sentences, surfaces, shown)
    alone = _join_labelled(joined, keys_in, shown, as_spelled, labels.found())
    return Names(joined, shown, {**kind, **settled}, alone | _passing(joined, surfaces, kind, set(titles)))


def _passing(
    joined: Mapping[tuple[int, str], str],
    surfaces: Mapping[str, Counter[str]],
    kind: Mapping[str, str],
    titles: Container[str],
) -> frozenset[str]:
    """Return the keys of plain nouns in small letters ("pleasure", "resort") that occur once; none of a small corpus,
    where most words do."""
    if sum(map(Counter.total, surfaces.values())) < _LARGE:
        return frozenset()
    folded = set(joined.values())
    once = [
        key
        for key, counted in surfaces.items()
        if counted.total() == 1
        and key not in folded
        and key not in titles
        and kind[key] == "concept"
        and next(iter(counted)).islower()
        and key.isalpha()
    ]
    # The dictionary is loaded only when it is needed.
    return frozenset(key for key in once if english_dictionary().has(key))


def _join_companies(joined: dict[tuple[int, str], str], keys_in: dict[int, dict[str, None]]) -> None:
    """Join a company's name without its legal form with the name that has it, where the corpus has one such form
    only.
    """
    full: dict[str, set[str]] = defaultdict(set)
    for keys in keys_in.values():
        for key in keys:
            full[company_of(key)].add(key)
    for document, keys in keys_in.items():
        for key in keys:
            if key and len(full.get(key, ())) == 1 and (document, key) not in joined:
                joined[document, key] = min(full[key])


def _fold_single_mentions(
    joined: dict[tuple[int, str], str],
    sentences: Sequence[ReadSentence],
    surfaces: Mapping[str, Counter[str]],
    shown: dict[str, str],
) -> None:
    """Join a phrase that occurs once and begins with an evaluating word with its bare phrase: "long thread",
    "thread".
    """
    for sentence in sentences:
        for sighting in sentence.sightings:
            if sighting.bare_key and surfaces[sighting.key].total() == 1:
                joined.setdefault((sentence.document, sighting.key), sighting.bare_key)
                shown.setdefault(sighting.bare_key, sighting.bare)


_FEWEST_LABELS, _MOST_WITHIN = 5, 0.8  # sentences that begin so; those that have it elsewhere, as a share of these


class _Labels:
    """Finds words in capitals that label pieces of text: they begin a title ("TIP Network cables") or stand before the
    beginning of a sentence ("CAUTION The cables are not supplied."); few of them stand before small letters."""

    def __init__(self) -> None:
        self._begins: Counter[str] = Counter()
        self._within: Counter[str] = Counter()

    def read(self, text: str) -> None:
        """Count the words of a sentence."""
        tokens = [token.strip(".,;:()\"'“”‘’") for token in text.split()]
        label = list(takewhile(_is_capitals, tokens))
        rest = tokens[len(label) :]
        begins = rest and rest[0][:1].isupper() and (text[-1] not in ".!?" or rest[0].lower() in FUNCTION_WORDS)
        (self._begins if begins else self._within).update(set(label))
        self._within.update(
            {word for word, after in pairwise([*rest, ""]) if word.isupper() and not after[:1].isupper()}
        )

    def found(self) -> frozenset[str]:
        """Return the labels in all that was read."""
        return frozenset(
            word
            for word, n in self._begins.items()
            if n >= _FEWEST_LABELS and len(word) > 2 and self._within[word] <= _MOST_WITHIN * n
        )


def _is_capitals(token: str) -> bool:
    return token.isalpha() and token.isupper()


def _join_labelled(
    joined: dict[tuple[int, str], str],
    keys_in: Mapping[int, Iterable[str]],
    shown: dict[str, str],
    as_spelled: Mapping[str, str],
    labels: frozenset[str],
) -> frozenset[str]:
    """Join names that begin with a label with what it labels ("TIP Network cables", "network cables"); return the keys
    of labels that stand alone."""
    alone = set()
    for document, keys in keys_in.items():
        for key in keys:
            words = shown[key].split()
            named = list(dropwhile(labels.__contains__, words))
            if not named:
                alone.add(key)
            elif len(named) < len(words):
                name = " ".join(named)
                bare = as_spelled.get(
                    name.casefold(), " ".join(key.split()[len(words) - len(named) :]) or name.casefold()
                )
                joined[document, key] = joined.get((document, bare), bare)
                shown.setdefault(bare, name)
    return frozenset(alone)


def _most_frequent(counted: Counter[str]) -> str:
    return min(counted, key=lambda value: (-counted[value], value))


def _join_acronyms(
    joined: dict[tuple[int, str], str],
    sentences: Sequence[ReadSentence],
    keys_in: dict[int, dict[str, None]],
    as_spelled: dict[str, str],
    shown: dict[str, str],
) -> None:
    """Join acronyms that a document spells out, and elsewhere those that the corpus spells out in one way only."""
    in_document: dict[tuple[int, str], Counter[str]] = defaultdict(Counter)
    corpus: dict[str, set[str]] = defaultdict(set)
    for sentence in sentences:
        for short, long in sentence.acronyms:
            key = as_spelled.get(long.casefold(), long.casefold())
            in_document[sentence.document, short.casefold()][key] += 1
            corpus[short.casefold()].add(key)
            shown.setdefault(key, long)
    for document, keys in keys_in.items():
        for key in keys:
            long_forms = in_document.get((document, key))
            if long_forms:
                joined[document, key] = _most_frequent(long_forms)
            elif len(corpus.get(key, ())) == 1 and shown[key].rstrip("s").isupper():
                joined[document, key] = min(corpus[key])


def _join_short_forms(
    joined: dict[tuple[int, str], str],
    keys_in: dict[int, dict[str, None]],
    kind: dict[str, str],
    shown: dict[str, str],
    whole: set[str],
) -> None:
    """Join single words with the one long name they shorten; an organization's only after it was named in full.

    whole: words that are no short forms: common nouns, and titles of documents.
    """
    everywhere = _long_forms([key for keys in keys_in.values() for key in keys], kind)
    for document, keys in keys_in.items():
        document_forms = _long_forms(keys, kind)
        order = {key: place for place, key in enumerate(keys)}
        for key in keys:
            named = kind[key] in ("person", "organization")
            proper = named or (kind[key] == "concept" and shown[key][0].isupper())
            if not proper or key in whole or " " in key or (document, key) in joined:
                continue
            fitting = document_forms.ends.get(key, set()) | (
                document_forms.begins.get(key, set()) if kind[key] == "person" else set()
            )
            fitting = _shortest({long for long in fitting if kind[long] == "person" or order[long] < order[key]})
            elsewhere = {long for long in everywhere.ends.get(key, ()) if kind[long] == "person"}
            if len(fitting) == 1:
                joined[document, key] = min(fitting)
            elif not fitting and named and len(_shortest(elsewhere)) == 1:
                joined[document, key] = min(_shortest(elsewhere))


def _shortest(forms: set[str]) -> set[str]:
    """Return the forms without those that only lengthen another one ("Agent Alex Mercer" beside "Alex Mercer")."""
    return {form for form in forms if not any(form.endswith(f" {other}") for other in forms)}


@dataclass(frozen=True)
class _LongForms:
    ends: dict[str, set[str]]
    begins: dict[str, set[str]]


def _long_forms(keys: Iterable[str], kind: dict[str, str]) -> _LongForms:
    """Return the names of several words by their last word, and persons' names by their first."""
    ends: dict[str, set[str]] = defaultdict(set)
    begins: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        words = key.split()
        if len(words) < 2 or _SEVERAL.search(key) or kind[key] not in ("person", "organization") or _TITLED.match(key):
            continue
        if words[-2] not in _SMALL:  # "California" is not the University of California
            ends[words[-1]].add(key)
        if kind[key] == "person":
            begins[words[0]].add(key)
    return _LongForms(ends, begins)


def _join_articles(
    joined: dict[tuple[int, str], str], keys_in: dict[int, dict[str, None]], titles: Mapping[str, str]
) -> None:
    """Join a title with the form that has its article: "Hobbit" is "The Hobbit" when that is a document's title."""
    without_article = {key.removeprefix("the "): key for key in titles if key.startswith("the ")}
    for document, keys in keys_in.items():
        for key in keys:
            if key in without_article and key not in titles and (document, key) not in joined:
                joined[document, key] = without_article[key]
