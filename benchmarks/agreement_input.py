"""An index as the released systems take it, and what our strategies retrieve from it as rows."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.peers.given import Given, GivenEntity, GivenQuestion, GivenRelation, GivenReport, Retrieved
from benchmarks.system_table import make_parts
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.question_terms import query_entities, query_keywords
from leanrag_core.retrieval.tools import Tools
from leanrag_core.types.communities import Communities, report_text
from leanrag_core.types.index import Index
from leanrag_core.workbench import Workbench

_STRATEGIES = ("lightrag", "fastgraphrag", "hipporag2", "graphrag_local")


def given_of(bench: Workbench, index: Index, questions: Sequence[str]) -> Given:
    """The index with its parts, and what the built-in way takes from each question."""
    for info in strategies().strategies:
        if info.name in _STRATEGIES:
            make_parts(bench, index, info)
    tools = bench.questions._tools(index)  # the vectors and parts that a strategy gets
    asked = tuple(_question(text, tools) for text in questions)
    texts = tuple(dict.fromkeys(text for question in asked for text in _texts(question)))
    base = index.layers[0]
    communities: Communities = tools.part("communities")
    names = unique_names(base.entities["name"].to_pylist())
    return Given(
        entities=tuple(
            GivenEntity(name, cells["type"] or "other", cells["description"] or name, tuple(index_chunks.tolist()))
            for row, (name, cells) in enumerate(zip(names, base.entities.to_pylist(), strict=True))
            for index_chunks in (base.chunks_of(row),)
        ),
        relations=tuple(
            GivenRelation(
                source,
                target,
                cells["description"] or "",
                ", ".join(cells["keywords"] or ()),
                float(cells["weight"]),
                tuple(cells["chunks"] or ()),
            )
            for (source, target), cells in zip(base.ends.tolist(), base.relations.to_pylist(), strict=True)
        ),
        passages=tuple(index.chunk(row).text for row in range(index.chunks.num_rows)),
        questions=asked,
        reports=_reports(communities),
        texts=texts,
        vectors={
            "entities": np.asarray(base.vectors),
            "names": tools.embed(base.entities["name"].to_pylist()),
            "relations": np.asarray(tools.part("relation_vectors")),
            "chunks": np.asarray(index.chunk_vectors),
            "texts": tools.embed(texts),
        },
    )


def unique_names(names: Sequence[str]) -> list[str]:
    """The names, with a number behind those that some release would take for another: case and signs are dropped."""
    taken: set[str] = set()
    unique = []
    for row, name in enumerate(names):
        plain = " ".join("".join(sign if sign.isascii() and sign.isalnum() else " " for sign in name.lower()).split())
        spelt = " ".join(name.split())
        if not plain or plain in taken:
            spelt, plain = f"{spelt} {row}", f"{plain} {row}"
        taken.add(plain)
        unique.append(spelt)
    return unique


def _question(text: str, tools: Tools) -> GivenQuestion:
    keywords, entities = query_keywords(text, tools), query_entities(text, tools)
    return GivenQuestion(text, keywords.low, keywords.high, entities.named, entities.generic)


def _texts(question: GivenQuestion) -> tuple[str, ...]:
    """Everything of a question that a system embeds."""
    return (
        question.text,
        ", ".join(question.low),
        ", ".join(question.high),
        *question.named,
        *question.generic,
    )


def _reports(communities: Communities) -> tuple[GivenReport, ...]:
    return tuple(
        GivenReport(
            cells["title"],
            cells["summary"],
            report_text(cells["summary"], [(each["summary"], each["explanation"]) for each in cells["findings"]]),
            float(cells["rating"]),
            cells["level"],
            cells["parent"],
            tuple(cells["nodes"]),
        )
        for cells in communities.table.to_pylist()
    )


def retrieved(bench: Workbench, index: Index, question: str, strategy: str, options: Mapping[str, Any]) -> Retrieved:
    """Rows of what is in the context of our strategy, section by section.

    Of a strategy whose context is chunks alone, the relations are those that it searched for.
    """
    trace = bench.retrieve(index, question, strategy, **options)
    row_of = {item.id: item.row for item in trace.items}
    row_of |= {each.id: each.row for each in trace.relations}
    sections = {
        section.name: [row_of[item.ref] for item in section.items if item.ref in row_of]
        for section in trace.context.sections
    }
    rows = {name: tuple(row for row in listed if row is not None) for name, listed in sections.items()}
    if "relations" not in rows:
        rows["relations"] = tuple(each.row for each in trace.relations if each.row is not None)
    return Retrieved(rows.get("entities"), rows.get("relations"), rows.get("chunks"), rows.get("communities"))
