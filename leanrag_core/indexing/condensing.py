"""Shortening the descriptions that merging has made too long."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from leanrag_core.errors import ReplyError
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel, call_made
from leanrag_core.models.window import count_cut, room
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.text.sentences import up_to_last_sentence
from leanrag_core.text.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.calls import NO_USAGE, CallMade, Usage, WrittenCall
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Graph
from leanrag_core.types.rows import with_column
from leanrag_core.types.settings import Apply

LONGEST = 500  # tokens of a description that is left as it is
_ASKED_FOR = 250  # tokens
_MOST_READ = 6000  # tokens of a description that the model is shown


@dataclass(frozen=True, eq=False)
class Condensed:
    """The graph with no description above LONGEST tokens. calls: those that shortened one."""

    graph: Graph
    drops: tuple[Drop, ...]
    usage: Usage
    calls: tuple[WrittenCall, ...] = ()


def too_long(descriptions: Sequence[str]) -> list[int]:
    """Return the rows whose description has to be condensed."""
    return [row for row, text in enumerate(descriptions) if len(text) > LONGEST and count_tokens(text) > LONGEST]


def condense(graph: Graph, model: LanguageModel | None, prompts: PromptBook, *, apply: Apply = map) -> Condensed:
    """Rewrite long descriptions of entities and relations; without a model, or where it fails, their first sentences
    are kept, with a Drop that says so.
    """
    texts = {
        "entity": graph.entities["description"].to_pylist(),
        "relation": graph.relations["description"].to_pylist(),
    }
    names = graph.entities["name"]

    def joined(row: int) -> str:
        return " and ".join(names[graph.relations[end][row].as_py()].as_py() for end in ("source", "target"))

    rows = [_Described("entity", row, names[row].as_py()) for row in too_long(texts["entity"])]
    rows += [_Described("relation", row, joined(row)) for row in too_long(texts["relation"])]
    if not rows:
        return Condensed(graph, (), NO_USAGE)
    prompt = prompts.of("merge_descriptions")

    def rewrite(about: _Described) -> _Rewritten:
        description = texts[about.what][about.row]
        if model is None:
            reason = f"more than {LONGEST} tokens of descriptions: the sentences that tell most are kept"
            return _Rewritten(beginning(description, LONGEST), (Drop("merge", about.item, reason),))
        return _rewritten(model, prompt.fingerprint, about, description, prompt.fill)

    usage, drops, calls = NO_USAGE, list[Drop](), list[WrittenCall]()
    results: Iterator[_Rewritten] = iter(apply(rewrite, rows))
    tables = {"entity": graph.entities, "relation": graph.relations}
    for about, rewritten in zip(rows, results, strict=True):
        texts[about.what][about.row] = rewritten.text
        drops += rewritten.drops
        if rewritten.call is not None:
            usage = usage + rewritten.call.usage
            target = tables[about.what]["id"][about.row].as_py()
            calls.append(WrittenCall("condense", 0, target, rewritten.call))
    condensed = [with_column(tables[what], "description", texts[what]) for what in ("entity", "relation")]
    return Condensed(Graph(*condensed), tuple(drops), usage, tuple(calls))


@dataclass(frozen=True)
class _Described:
    """The entity or relation that a description is about. what: which of the two; row: in its table."""

    what: str
    row: int
    name: str

    @property
    def name_in_prompt(self) -> str:
        """The name that a prompt uses."""
        return self.name if self.what == "entity" else f"the relation between {self.name}"

    @property
    def item(self) -> str:
        return f"{self.what} {self.name!r}"


@dataclass(frozen=True)
class _Rewritten:
    """A description as it is from now on. call: the one that wrote it, if any did."""

    text: str
    drops: tuple[Drop, ...]
    call: CallMade | None = None


def beginning(text: str, max_tokens: int) -> str:
    """Return the whole sentences at the beginning of the text that fit; where they are less than half of what fits, all
    that fits.
    """
    kept = trim_to_tokens(text, max_tokens)
    return kept.rstrip() if kept == text else up_to_last_sentence(kept)


def _rewritten(
    model: LanguageModel, task: str, about: _Described, description: str, fill: Callable[..., str]
) -> _Rewritten:
    empty = fill(name=about.name_in_prompt, descriptions="", max_tokens=str(_ASKED_FOR))
    most = room(model, beside=count_tokens(empty), wanted=_MOST_READ)
    shown = trim_to_tokens(description, most)
    drops = []
    if shown != description:
        drops.append(Drop("merge", about.item, f"more than {most:,} tokens of descriptions: cut"))
        if most < _MOST_READ:
            count_cut(model)
    text = fill(name=about.name_in_prompt, descriptions=shown, max_tokens=str(_ASKED_FOR))
    try:
        answer = ask(model, [{"role": "user", "content": text}], _text_of, task=task)
    except ReplyError as error:
        drops.append(Drop("merge", about.item, f"{error}; its descriptions were cut at {LONGEST} tokens"))
        return _Rewritten(beginning(description, LONGEST), tuple(drops))
    condensed = beginning(answer.value, LONGEST)
    if condensed != answer.value:
        drops.append(Drop("merge", about.item, f"the condensed description was cut at {LONGEST} tokens"))
    return _Rewritten(condensed, tuple(drops), call_made(answer.completion))


def _text_of(completion: Completion) -> str:
    if completion.cut:
        raise ReplyError("reply.cut_be_shorter")
    text = " ".join(completion.text.split())
    if not text:
        raise ReplyError("reply.empty")
    return text
