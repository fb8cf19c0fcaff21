"""Descriptions that many chunks have added to, condensed by a language model (section 2, step 3)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from leanrag_core.errors import ReplyError
from leanrag_core.models.asking import ask
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.prompts.book import PromptBook
from leanrag_core.tokens import count_tokens, trim_to_tokens
from leanrag_core.types.extraction import Drop
from leanrag_core.types.graph import Graph
from leanrag_core.types.usage import NO_USAGE, Usage

LONGEST = 500  # tokens of a description that is left as it is
_ASKED_FOR = 250  # tokens
_MOST_READ = 6000  # tokens of a description that the model is shown
Apply = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


@dataclass(frozen=True, eq=False)
class Condensed:
    """The graph with no description above LONGEST tokens."""

    graph: Graph
    drops: tuple[Drop, ...]
    usage: Usage


def too_long(descriptions: Sequence[str]) -> list[int]:
    """Rows whose description a language model has to condense."""
    return [row for row, text in enumerate(descriptions) if len(text) > LONGEST and count_tokens(text) > LONGEST]


def condense(graph: Graph, model: LanguageModel, prompts: PromptBook, *, apply: Apply = map) -> Condensed:
    """Long descriptions rewritten; where the model fails they are cut, with a Drop that says so."""
    names, descriptions = graph.entities["name"].to_pylist(), graph.entities["description"].to_pylist()
    rows = too_long(descriptions)
    if not rows:
        return Condensed(graph, (), NO_USAGE)
    prompt = prompts.of("merge_descriptions")

    def rewrite(row: int) -> tuple[str, Usage, tuple[Drop, ...]]:
        return _rewritten(model, prompt.fingerprint, names[row], descriptions[row], prompt.fill)

    usage, drops = NO_USAGE, list[Drop]()
    results: Iterator[tuple[str, Usage, tuple[Drop, ...]]] = iter(apply(rewrite, rows))
    for row, (text, spent, lost) in zip(rows, results, strict=True):
        descriptions[row] = text
        usage = usage + spent
        drops += lost
    column = graph.entities.schema.get_field_index("description")
    field = graph.entities.schema.field(column)
    entities = graph.entities.set_column(column, field, pa.array(descriptions, field.type))
    return Condensed(Graph(entities, graph.relations), tuple(drops), usage)


def _rewritten(
    model: LanguageModel, task: str, name: str, description: str, fill: Callable[..., str]
) -> tuple[str, Usage, tuple[Drop, ...]]:
    shown = trim_to_tokens(description, _MOST_READ)
    drops = []
    if shown != description:
        drops.append(Drop("merge", f"entity {name!r}", f"more than {_MOST_READ:,} tokens of descriptions: cut"))
    text = fill(name=name, descriptions=shown, max_tokens=str(_ASKED_FOR))
    try:
        asked = ask(model, [{"role": "user", "content": text}], _text_of, task=task)
    except ReplyError as error:
        drops.append(Drop("merge", f"entity {name!r}", f"{error}; its descriptions were cut at {LONGEST} tokens"))
        return trim_to_tokens(description, LONGEST), NO_USAGE, tuple(drops)
    kept = trim_to_tokens(asked.value, LONGEST)
    if kept != asked.value:
        drops.append(Drop("merge", f"entity {name!r}", f"the condensed description was cut at {LONGEST} tokens"))
    return kept, asked.completion.usage, tuple(drops)


def _text_of(completion: Completion) -> str:
    if completion.cut:
        raise ReplyError("the reply was cut at the token limit: be shorter")
    text = " ".join(completion.text.split())
    if not text:
        raise ReplyError("the reply is empty")
    return text
