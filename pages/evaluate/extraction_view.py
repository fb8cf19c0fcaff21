"""Extraction: how much of a reference graph the graphs of indexes contain, by type, with what was missed and
invented."""

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.extraction import EMBEDDING, EXACT, NORMALISED, Example, Examples, ExtractionScore, Share
from leanrag_core.figures import numbers
from leanrag_core.types.config import REFERENCE, model_title
from leanrag_core.types.manifest import REFERENCE_GRAPH
from leanrag_core.types.summary import IndexSummary
from leanrag_core.views import schema
from pages.common import choices, markup, session
from pages.common.html import draw, html, joined
from pages.common.messages import message, percent, say, say_or
from pages.evaluate import figure_view

INDEX, MATCH = "xindex", "xmatch"
_MATCHES = (NORMALISED, EXACT, EMBEDDING)
_MOST_TYPES = 14


def show() -> None:
    """Draw the scores of the indexes whose corpus has a reference graph, then the types and examples of one of them."""
    indexes = _covered()
    if not indexes:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.extraction.none")))
        return
    with st.container(horizontal=True, gap="small", vertical_alignment="bottom", key="extraction_controls"):
        chosen = _index(indexes)
        match = _match()
    scores = _scores([each for each in indexes.values() if each.corpus_id == chosen.corpus_id], match)
    score = scores.get(chosen.id)
    if score is None:
        itself = chosen.kind == REFERENCE_GRAPH
        message(say("evaluate.extraction.itself" if itself else "evaluate.extraction.no_score"))
        return
    at_match = score.match(match)
    draw(
        markup.lead(
            say("evaluate.extraction.finding", recall=percent(at_match.entities.recall), n=at_match.entities.wanted),
            say(
                "evaluate.extraction.finding_rest",
                recall=percent(at_match.relations.recall),
                n=at_match.relations.wanted,
            ),
            "lr-finding",
        )
    )
    figure_view.title(say("evaluate.extraction.indexes"), say("evaluate.extraction.indexes_note"))
    draw(_table(indexes, scores, match, chosen))
    left, right = st.columns(2, gap="large")
    with left:
        figure_view.title(say("evaluate.extraction.types"), say("evaluate.extraction.types_note"))
        draw(_types(score.types))
        if score.kinds:
            figure_view.title(say("evaluate.extraction.kinds"), say("evaluate.extraction.kinds_note"))
            draw(_kinds(score.kinds))
    with right:
        _examples(score.examples)


def _covered() -> dict[str, IndexSummary]:
    """Return by id the indexes whose corpus has a reference graph: the extracted ones first, then the reference
    itself."""
    covered = {}
    corpora: dict[str, bool] = {}
    for summary in session.index_list().indexes:
        if summary.corpus_id not in corpora:
            corpora[summary.corpus_id] = _has_reference(summary.corpus_id)
        if corpora[summary.corpus_id]:
            covered[summary.id] = summary
    return dict(sorted(covered.items(), key=lambda item: item[1].config.model == REFERENCE))


def _has_reference(corpus_id: str) -> bool:
    try:
        return bool(corpus_id) and session.workbench().builds.has_reference(corpus_id)
    except LeanRAGError:  # an index whose corpus is gone
        return False


def _index(indexes: Mapping[str, IndexSummary]) -> IndexSummary:
    titles = {id_: each.title for id_, each in indexes.items()}
    chosen = choices.dropdown(INDEX, say("frame.index"), titles, width=340)
    return indexes[chosen]


def _match() -> str:
    titles = {name: say(f"evaluate.extraction.match.{name}") for name in _MATCHES}
    return choices.segments(MATCH, say("evaluate.extraction.match"), titles)


def _scores(indexes: Sequence[IndexSummary], match: str) -> dict[str, ExtractionScore]:
    """Return the scores of the indexes that have one; draw the error of an index that cannot be read, and continue."""
    scores = {}
    with st.spinner(say("evaluate.extraction.working")):
        for summary in indexes:
            try:
                score = _score(summary, match == EMBEDDING)
            except LeanRAGError as error:
                message(error, kind="error", title=summary.title)
                continue
            if score is not None:
                scores[summary.id] = score
    return scores


@st.cache_resource(show_spinner=False, max_entries=64, hash_funcs=session.BY_INDEX)
def _score(summary: IndexSummary, embedded: bool) -> ExtractionScore | None:
    with session.reading(summary) as index:
        return session.workbench().references.score(index, embedded=embedded)


def _bar(share: float | None) -> Markup:
    """Return a share as a bar with its number."""
    if share is None:
        return html("–")
    return html(
        '<span class="lr-flips"><i><u style="width:{:.1f}%"></u></i>{}</span>', 100 * share, numbers.share(share)
    )


def _table(
    indexes: Mapping[str, IndexSummary], scores: Mapping[str, ExtractionScore], match: str, chosen: IndexSummary
) -> Markup:
    """Return a table of recall and precision of each index under that way of matching names."""
    names = ("index", "engine", "entities_recall", "entities_precision", "relations_recall", "relations_precision")
    head = joined(html("<th>{}</th>", say(f"evaluate.extraction.head.{name}")) for name in names)
    lines = []
    for id_, score in scores.items():
        shares = score.match(match)
        cells = (shares.entities.recall, shares.entities.precision, shares.relations.recall, shares.relations.precision)
        model = indexes[id_].config.model
        lines.append(
            html(
                '<tr class="{}"><td>{}</td><td class="t">{}</td>{}</tr>',
                "shown" if id_ == chosen.id else "",
                indexes[id_].title,
                say_or(model_title(model), f"build.model.{model}"),
                joined(html("<td>{}</td>", _bar(share)) for share in cells),
            )
        )
    return markup.wide_table("lr-shares", say("evaluate.extraction.indexes"), head, lines)


def _types(types: Mapping[str, Share]) -> Markup:
    """Return a table of recall and precision by type, the reference's most frequent type first."""
    names = ("type", "wanted", "given", "recall", "precision")
    head = joined(html("<th>{}</th>", say(f"evaluate.extraction.head.{name}")) for name in names)
    ordered = sorted(types.items(), key=lambda item: (-item[1].wanted, -item[1].given, item[0]))
    template = "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>"
    lines = [
        html(template, name or "–", f"{share.wanted:,}", f"{share.given:,}", _bar(share.recall), _bar(share.precision))
        for name, share in ordered[:_MOST_TYPES]
    ]
    table = markup.wide_table("lr-shares", say("evaluate.extraction.types"), head, lines)
    if len(ordered) > _MOST_TYPES:
        table += markup.muted(say("evaluate.extraction.more_types", n=len(ordered) - _MOST_TYPES))
    return table


def _kinds(kinds: Mapping[str, Share]) -> Markup:
    rows = [
        (schema.kind_title(kind, say), f"{share.given:,}", percent(share.precision)) for kind, share in kinds.items()
    ]
    head = tuple(say(f"evaluate.extraction.head.{name}") for name in ("kind", "given", "precision"))
    return markup.facts_table(head, rows, caption=say("evaluate.extraction.kinds"))


def _examples(examples: Examples) -> None:
    """Draw what was missed, with the words of the document, or what was extracted beyond the reference."""
    lists = (
        ("missed_entities", examples.missed_entities),
        ("missed_relations", examples.missed_relations),
        ("other_entities", examples.other_entities),
        ("other_relations", examples.other_relations),
    )
    titles = {name: say(f"evaluate.extraction.{name}", n=len(rows)) for name, rows in lists}
    rows_of = dict(lists)
    figure_view.title(say("evaluate.extraction.examples"), say("evaluate.extraction.examples_note"))
    chosen = choices.pills(
        "xlist", say("evaluate.extraction.examples"), titles, label_visibility="collapsed", wrap=True
    )
    rows = rows_of[chosen]
    if not rows:
        draw(markup.muted(say("evaluate.extraction.no_examples")))
        return
    draw(joined(map(_example, rows)))


def _example(example: Example) -> Markup:
    quote = (
        html('<div class="lr-read" dir="auto">{}</div><span>{}</span>', example.quote, example.document)
        if example.quote
        else html("")
    )
    tag = html('<span class="lr-tag">{}</span>', example.type) if example.type else html("")
    return html('<div class="lr-example"><b><bdi>{}</bdi></b> {}{}</div>', example.name, tag, quote)
