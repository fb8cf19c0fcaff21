"""A deterministic language model: it knows the project's prompts by their form and answers from their material."""

import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

Message = Mapping[str, Any]
Messages = Sequence[Message]

ECHO = "echo"
_COMPLAINT = re.compile(r"\AThat cannot be used: ")
# How each prompt begins and, for prompts that were edited, the line in front of its material.
_BEGINS = (
    ("extract_graph", re.compile(r"\A# Task\s+Read one passage of a document and list the entities")),
    ("glean_graph", re.compile(r"\ARead the passage once more")),
    ("merge_descriptions", re.compile(r"\ASeveral passages describe the same entity")),
    ("aggregate_entity", re.compile(r"\ABelow is a group of related entities")),
    ("aggregate_relation", re.compile(r"\ATwo groups of entities are joined")),
    ("answer", re.compile(r"\AAnswer the question from the context below")),
    ("extract_graph", re.compile(r"^<<<PASSAGE$", re.MULTILINE)),
    ("merge_descriptions", re.compile(r"^Descriptions:\n<<<$", re.MULTILINE)),
    ("aggregate_entity", re.compile(r"^Members \(name, type, description\):\n<<<$", re.MULTILINE)),
    ("aggregate_relation", re.compile(r"^Relations between their members:\n<<<$", re.MULTILINE)),
    ("answer", re.compile(r"^Context:\n<<<$", re.MULTILINE)),
)
_ENTITIES_ALONE = re.compile(r"\n\nGive the entities alone: ")
_SENTENCE = re.compile(r"(?<=[.!?])[\"'”’)]*\s+|(?<=[。！？])|\n\s*\n")
_CAPITALS = r"[A-Z][\w'’-]*[\w]"
_GAP = r"(?:[ \t]+|\n)"  # an empty line ends a run
_RUN = re.compile(rf"\b{_CAPITALS}(?:{_GAP}(?:(?:of|de|von|van){_GAP}(?:the{_GAP})?)?{_CAPITALS})*")
_LONG_NOUN = re.compile(r"\b[a-zà-ÿ][a-zà-ÿ-]{6,}\b")
_EASTERN = re.compile(r"[\u4e00-\u9fff]{2,6}|[\u30a1-\u30ffー]{2,}|[\uac00-\ud7af]{2,}")
_OPENERS = frozenset(
    re.findall(
        r"\w+",
        "A After All Although An And As At Because Before But By During Each Every For From He Her Here His How I If "
        "However In It Its Many Most My No Not Of On Once One Or Our Over She So Some Such That The Their Then There "
        "These They This Those Though Through Thus To Under Until We What When Where Which While Who With You Your",
    )
)
_ENDINGS = (
    ("organization", re.compile(r"(?:Company|Institute|University|Society|Foundation|Committee|Party|Bank|Office)$")),
    ("location", re.compile(r"(?:River|Lake|Street|City|Island|County|Bay|Sea|Valley|Road|Square|Mountain)$")),
)
_MEMBER = re.compile(r"^- (.+?) \(([^()]*)\): (.*)$", re.MULTILINE)
_RELATION = re.compile(r"^- (.+?) / (.+?): (.*)$", re.MULTILINE)
_ITEM = re.compile(r"^\[([EARC]\d+)\] (.*(?:\n(?!\[[EARC]\d+\] |## ).+)*)", re.MULTILINE)
_GROUP_WORDS = ("circle", "matters", "affairs", "connections", "company", "field", "world", "theme")
_MOST_ENTITIES = 20
_LONGEST_SENTENCE = 300  # characters


@dataclass(frozen=True)
class Reply:
    """What the model says, and which task it took the messages for."""

    task: str
    text: str


@dataclass(frozen=True)
class ScriptedModel:
    """Answers by rule. glean_one_more: the first gleaning of a passage adds an entity and asks for another look.

    further: (expression, writer) pairs for prompts that are not the project's own; a writer gets the prompt's text.
    """

    glean_one_more: bool = False
    further: tuple[tuple[str, Callable[[str], str]], ...] = ()

    def reply(self, messages: Messages, *, as_json: bool = False) -> Reply:
        """Return the reply to the last task in the messages; a complaint about an earlier reply gets the task done
        again."""
        task, text = recognise(messages)
        if task == "extract_graph":
            return Reply(task, _dumped(extracted(_passage(text), relations=not _ENTITIES_ALONE.search(text))))
        if task == "glean_graph":
            return Reply(task, _dumped(self._gleaned(messages)))
        if task in _WRITERS:
            return Reply(task, _WRITERS[task](text))
        for pattern, writer in self.further:
            if re.search(pattern, text):
                return Reply(pattern, writer(text))
        echo = f"You said: {' '.join(text.split())[:200]}"
        return Reply(ECHO, json.dumps({"echo": echo}) if as_json else echo)

    def _gleaned(self, messages: Messages) -> dict[str, Any]:
        asked = [_text(message) for message in messages if message.get("role") == "user"]
        rounds = sum(_task(text) == "glean_graph" for text in asked)
        passage = next((_passage(text) for text in asked if _task(text) == "extract_graph"), "")
        known = {name.lower() for name in entity_names(passage)}
        words = sorted({word for word in _LONG_NOUN.findall(passage) if word not in known}, key=lambda w: (-len(w), w))
        if not self.glean_one_more or rounds != 1 or not words:
            return {"entities": [], "relations": [], "done": True}
        return {"entities": [_entity(words[0], sentences(passage))], "relations": [], "done": False}


def recognise(messages: Messages) -> tuple[str, str]:
    """Return the task of the last user message that is no complaint, and that message's text."""
    asked = [_text(message) for message in messages if message.get("role") == "user"]
    tasks = [text for text in asked if not _COMPLAINT.match(text)] or asked
    return (_task(tasks[-1]), tasks[-1]) if tasks else (ECHO, "")


def extracted(passage: str, *, relations: bool = True) -> dict[str, Any]:
    """Return the entities of a passage and, between neighbours in a sentence, relations."""
    all_sentences = sentences(passage)
    names = entity_names(passage)
    entities = [_entity(name, all_sentences) for name in names]
    if not relations:
        return {"entities": entities}
    sentences_of_pair: dict[tuple[str, str], list[str]] = {}
    for sentence in all_sentences:
        here = sorted((name for name in names if name in sentence), key=lambda name: (sentence.index(name), -len(name)))
        for first, other in pairwise(here):
            sentences_of_pair.setdefault((first, other), []).append(sentence)
    return {
        "entities": entities,
        "relations": [_relation(*pair, statements) for pair, statements in sentences_of_pair.items()],
    }


def entity_names(passage: str) -> list[str]:
    """Return capitalised word runs and repeated long words in the order of the passage; repeated runs of Eastern
    scripts."""
    places: dict[str, int] = {}
    for match in _RUN.finditer(passage):
        words = match[0].split()
        skipped = next((i for i, word in enumerate(words) if word not in _OPENERS), len(words))
        name = " ".join(words[skipped:])
        if len(name) > 2:
            places.setdefault(name, match.start())
    repeated = Counter(_LONG_NOUN.findall(passage)) + Counter(_EASTERN.findall(passage))
    for word, times in repeated.items():
        if times > 1:
            places.setdefault(word, passage.index(word))
    return sorted(places, key=lambda name: (places[name], name))[:_MOST_ENTITIES]


def sentences(text: str) -> list[str]:
    """Return sentences with their white space folded, each at most 300 characters."""
    folded = (" ".join(piece.split())[:_LONGEST_SENTENCE] for piece in _SENTENCE.split(text))
    return [piece for piece in folded if piece]


def _task(text: str) -> str:
    return next((task for task, begins in _BEGINS if begins.search(text)), ECHO)


def _text(message: Message) -> str:
    content = message.get("content") or ""
    if isinstance(content, str):
        return content
    return "\n".join(str(part.get("text", "")) for part in content if isinstance(part, dict))


def _dumped(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _between(text: str, opening: str, closing: str) -> str:
    """Return the material after the last opening line, up to the last closing line."""
    return text.rpartition(f"{opening}\n")[2].rpartition(f"\n{closing}")[0]


def _passage(text: str) -> str:
    return _between(text, "<<<PASSAGE", "PASSAGE>>>")


def _fenced(text: str, label: str) -> str:
    return text.partition(f"{label}\n<<<\n")[2].partition("\n>>>")[0]


def _entity(name: str, statements: Sequence[str]) -> dict[str, str]:
    first = next((sentence for sentence in statements if name in sentence), name)
    kind = next((kind for kind, ending in _ENDINGS if ending.search(name)), "")
    kind = kind or ("concept" if name[:1].islower() or _EASTERN.match(name) else "person" if " " in name else "term")
    return {"name": name, "type": kind, "description": f"{name} is named here: {first}"}


def _relation(source: str, target: str, statements: Sequence[str]) -> dict[str, Any]:
    between = statements[0].partition(source)[2].partition(target)[0]
    words = sorted(re.findall(r"[^\W\d_]{3,}", between.lower()), key=lambda word: (-len(word), word))
    return {
        "source": source,
        "target": target,
        "description": f"{source} and {target}: {statements[0]}",
        "keywords": words[:1] or ["together"],
        "strength": min(10, 3 + 2 * len(statements)),
    }


def _merged(text: str) -> str:
    name = re.search(r'the same entity, "(.*?)"\.', text)
    limit = re.search(r"At most (\d+) tokens", text)
    pieces = [piece.lstrip("- ") for piece in _fenced(text, "Descriptions:").splitlines() if piece.strip()]
    firsts = list(dict.fromkeys(split[0] for split in map(sentences, pieces) if split))
    words = " ".join([f"{name[1] if name else 'It'} is described so:", *firsts]).split()
    return " ".join(words[: int(limit[1]) // 2 if limit else 100])


def _aggregated(text: str) -> str:
    members = _MEMBER.findall(_fenced(text, "Members (name, type, description):"))
    relations = _RELATION.findall(_fenced(text, "Relations among them:"))
    names = [name for name, _, _ in members] or ["Nothing"]
    taken = {name.casefold() for name in names}
    heads = list(dict.fromkeys(name.partition(" and ")[0] for name in names))
    stem = " and ".join(heads[:2])
    name = next(
        candidate for candidate in (f"{stem} {word}" for word in _names_of(names)) if candidate.casefold() not in taken
    )
    firsts = [(sentences(described) or [member])[0] for member, _, described in members]
    findings = [
        {"summary": first, "explanation": f"{member} is a {kind} of this group. {first}"}
        for (member, kind, _), first in zip(members, firsts, strict=True)
    ]
    findings += [
        {"summary": statement, "explanation": f"{source} and {target} belong together. {statement}"}
        for source, target, statement in relations
    ]
    shown = ", ".join(names[:5])
    description = f"{name} brings together {len(members)} entities, among them {shown}. {' '.join(firsts[:2])}"
    return _dumped({"name": name, "description": description, "findings": findings[:5]})


def _names_of(names: Sequence[str]) -> list[str]:
    """Return words for a group; where to begin depends on its members, so that groups are seldom named alike."""
    start = sum(map(len, names)) % len(_GROUP_WORDS)
    words = [*_GROUP_WORDS[start:], *_GROUP_WORDS[:start]]
    return [*words, *(f"{word} {n}" for n in range(2, len(names) + 2) for word in words)]


def _joined(text: str) -> str:
    left, right = (re.search(rf"^{side} group: (.*)$", text, re.MULTILINE) for side in ("First", "Second"))
    count = len(_RELATION.findall(_fenced(text, "Relations between their members:")))
    ends = (left[1].strip() if left else "The first group", right[1].strip() if right else "the second group")
    return f"{ends[0]} stands in {count} relation{'s' if count != 1 else ''} to {ends[1]}."


def _answered(text: str) -> str:
    """Return the sentence of the context that shares most words with the question, with its mark; chunks are
    preferred."""
    question = {word for word in re.findall(r"\w+", text.rpartition("Question:")[2].lower()) if len(word) > 3}
    context = text.partition("Context:\n<<<\n")[2].rpartition("\n>>>")[0]
    best, best_score = "", 0.0
    for mark, item in _ITEM.findall(context):
        for sentence in sentences(item):
            shared = len(question & set(re.findall(r"\w+", sentence.lower())))
            score = shared + (0.5 if mark.startswith("C") and shared else 0.0)
            if score > best_score:
                best, best_score = f"{sentence} [{mark}]", score
    return best or "The context does not hold the answer."


_WRITERS: dict[str, Callable[[str], str]] = {
    "merge_descriptions": _merged,
    "aggregate_entity": _aggregated,
    "aggregate_relation": _joined,
    "answer": _answered,
}
