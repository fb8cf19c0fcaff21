"""Names and descriptions of communities: by a language model from the names of their members, or from their keywords
(Youtu-GraphRAG, section 3.2.1)."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leanrag_core.errors import ReplyError
from leanrag_core.execution.executors import ThreadMap
from leanrag_core.indexing.aggregation.summary_reply import whole
from leanrag_core.indexing.communities.builtin_report import HIGHEST_RATING, Report
from leanrag_core.indexing.communities.making import CALLS_AT_ONCE
from leanrag_core.indexing.part_base import PartTools
from leanrag_core.models.asking import ask, read_json
from leanrag_core.models.base import Completion, LanguageModel
from leanrag_core.text.sentences import split_sentences
from leanrag_core.types.calls import JsonSchema
from leanrag_core.types.graph import Layer
from leanrag_core.types.job import Progress

_IN_TITLE, _IN_DESCRIPTION, _IN_PROMPT = 3, 4, 40
_REPLY: JsonSchema = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "description": {"type": "string"}},
    "required": ["name", "description"],
    "additionalProperties": False,
}


def named_communities(base: Layer, members: Sequence[np.ndarray], tools: PartTools) -> list[Report]:
    """Return a name and a description for each community. members: entities of each, (k,) int, the best first. members:
    of each, the best first.

    Without a language model, or where its reply cannot be used, the name is the first three keywords and the
    description their first sentences. Raises BudgetSpent, Cancelled.
    """
    sizes = np.array([len(rows) for rows in members], dtype=np.float64)
    ratings = np.round(HIGHEST_RATING * np.log1p(sizes) / np.log1p(sizes.max(initial=1.0)), 1).tolist()

    def name(community: int) -> Report:
        rows, rating = members[community].tolist(), ratings[community]
        reason = f"{len(rows)} entities."
        if tools.language is not None:
            tools.meter.require_budget()
            try:
                title, description = _by_model(base, rows, tools.language, tools)
                return Report(title, description, rating, reason, (), by_model=True)
            except ReplyError as error:
                tools.meter.add_fault(str(error))
        names, descriptions = base.entity_cells["name"], base.entity_cells["description"]
        firsts = (next(iter(split_sentences(descriptions[row].as_py()[:2000])), "") for row in rows[:_IN_DESCRIPTION])
        title = ", ".join(names[row].as_py() for row in rows[:_IN_TITLE])
        return Report(title, " ".join(dict.fromkeys(filter(None, firsts))), rating, reason, ())

    reports: list[Report] = []
    apply = ThreadMap(CALLS_AT_ONCE if tools.language is not None else 1)
    for report in apply(name, range(len(members))):
        reports.append(report)
        tools.report(Progress("make", len(reports), len(members), "reports", current=report.title))
    return reports


def _by_model(base: Layer, rows: Sequence[int], language: LanguageModel, tools: PartTools) -> tuple[str, str]:
    prompt, names = tools.prompts.of("name_community"), base.entity_cells["name"]
    text = prompt.fill(names="\n".join(f"- {names[row].as_py()}" for row in rows[:_IN_PROMPT]))
    return ask(language, [{"role": "user", "content": text}], _read, schema=_REPLY, task=prompt.fingerprint).value


def _read(completion: Completion) -> tuple[str, str]:
    cells: dict[str, Any] = read_json(whole(completion), (("name",), ("description",))).cells
    name, description = (" ".join(str(cells.get(key) or "").split()) for key in ("name", "description"))
    if not name or not description:
        raise ReplyError("reply.no_report")
    return name, description
