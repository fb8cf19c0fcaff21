"""What the hierarchy added to this context beyond similarity search, and the contexts of the paper's rivals."""

from pathlib import Path
from typing import Any

import streamlit as st
from markupsafe import Markup

from leanrag_core.comparing.structure import AGGREGATED, KINDS, RELATIONS, Brought, Structure, climbs
from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.base import Outcome
from leanrag_core.figures import numbers
from leanrag_core.retrieval.base import strategies
from leanrag_core.types.config import is_remote
from leanrag_core.types.index import Index
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible_values
from pages.ask import asking, beside_view, part_view, play, roles
from pages.common import buttons, markup, session
from pages.common.component import component
from pages.common.html import NOTHING, draw, html, joined
from pages.common.messages import say, words
from pages.common.scope import Scope

RIVALS = ("vector", "graphrag_local", "lightrag", "hirag", "fastgraphrag")  # naive RAG and those of Figure 3
_LISTED = 5  # most items listed per kind
_SCRIPT = Path(__file__).with_name("structure.js")
_FRAME = '<div class="lr-brought"></div>'


def show(scope: Scope, index: Index, ask: asking.Ask, trace: Trace, answer: Answer | None) -> None:
    """Draw the panel; for a strategy without a climb only a line that compares it with naive RAG."""
    if not climbs(trace):
        beside_view.line(scope, ask, trace)
        return
    rank_all = bool(st.session_state.get(scope.key("rank_all")))
    try:
        structure = session.workbench().explanations.structure(index, trace, answer, rank_all=rank_all)
    except LeanRAGError:  # the retrieval above has shown an embedding endpoint's error
        return
    with st.container(border=True, gap="small", key=scope.name("structure")):
        draw(_head(structure))
        left, right = st.columns([3, 2], gap="medium")
        with left:
            _lists(scope, trace, structure)
            if structure.unranked and not is_remote(ask.summary.config.embedding):
                label, act = say("structure.rank_all"), st.session_state.__setitem__
                buttons.tertiary(
                    label, "format_list_numbered", scope.name("rank_all"), act, scope.key("rank_all"), True
                )
        with right:
            st.fragment(_rivals)(scope, ask, trace)


def _head(structure: Structure) -> Markup:
    n = len(structure.brought)
    title = markup.view_heading(say("structure.title"))
    if not n:
        return title + markup.muted(say("structure.nothing"))
    claim = say("structure.claim", n=n, items=structure.items)
    cost = say("structure.cost", tokens=structure.brought_tokens, all=structure.tokens)
    return title + markup.lead(claim, cost, "lr-small") + markup.muted(say("structure.rule"))


def _lists(scope: Scope, trace: Trace, structure: Structure) -> None:
    """Draw the items that only the climb added; hovering a mark highlights it in the answer and in the play."""
    data = {
        "of": play.digest(trace),
        "brought": [item.mark for item in structure.brought],
        "lists": [_list(trace, structure, kind) for kind in KINDS if structure.counts[kind]],
        "hold": say("structure.hold"),
    }
    component(_SCRIPT, _FRAME, parts=("marks",))(data=visible_values(data), key=scope.name("brought"))
    if structure.unranked:
        draw(markup.muted(say("structure.unranked", n=structure.unranked)))


def _list(trace: Trace, structure: Structure, kind: str) -> dict[str, Any]:
    brought, marks = structure.of_kind(kind), roles.marks_by_ref(trace.context)
    names = {id_: [name] for id_, name in roles.names_of(trace).items()}
    names |= {relation.id: list(roles.ends(trace, relation)) for relation in trace.relations}
    more = len(brought) - _LISTED
    return {
        "title": say(f"structure.{kind}"),
        "count": say("structure.of", n=len(brought), all=structure.counts[kind]),
        "colour": marks[brought[0].ref].colour if brought else "",
        "rows": [
            {"mark": item.mark, "names": names.get(item.ref, [item.mark]), "reason": _reason(item)}
            for item in brought[:_LISTED]
        ],
        "more": say("cite.more", n=more) if more > 0 else "",
    }


def _reason(item: Brought) -> str:
    if item.kind == RELATIONS:
        why = say("structure.strength", strength=numbers.decimal(item.strength, 0))
    elif item.is_ancestor:
        why = say("structure.ancestor")
    else:
        why = say("structure.above" if item.kind == AGGREGATED else "structure.in_chunk", n=item.seeds)
    rank = say("structure.rank", rank=item.rank)
    if not item.sentences:
        return say("ask.comma").join((why, rank))
    sentences = say("ask.comma").join(map(str, item.sentences))
    carries = say("structure.carries", n=len(item.sentences), sentences=sentences)
    return say("ask.comma").join((why, rank, carries))


def _rivals(scope: Scope, ask: asking.Ask, trace: Trace) -> None:
    """Draw the tokens of the rivals' contexts for this question; they are counted on request."""
    draw(markup.label(say("structure.tokens")))
    wanted = st.session_state.setdefault(scope.key("rivals"), set())
    topic = (ask.summary.id, ask.question)
    rows: list[tuple[str, Trace | str]] = [(words(trace.title), trace)]
    if topic in wanted:
        infos = strategies().by_name()
        rows += [(words(infos[name].title), _rival(scope, ask, name)) for name in RIVALS if name != ask.strategy]
    draw(_bars(rows, ask))
    others = [row for _, row in rows[1:] if isinstance(row, Trace)]
    if others:
        draw(_sentence(trace, others, ask))
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=scope.name("rival_actions")):
        if topic not in wanted:
            label, key = say("structure.count"), scope.name("count_rivals")
            buttons.secondary(label, "data_usage", key, wanted.add, topic, help=say("structure.count_help"))
        beside_view.compare_button(scope)


def _rival(scope: Scope, ask: asking.Ask, name: str) -> Trace | str:
    """Return the retrieval of that system with its official settings, or why there is none."""
    info = strategies().named(name)
    if info.calls_model and session.workbench().questions.asks_model(ask.summary.config.model):
        return say("structure.asks_model")
    try:
        return part_view.with_quick_parts(
            scope, ask.summary, ask.question, lambda: session.retrieve(ask.summary, ask.question, name, (), ask.within)
        )
    except LeanRAGError as error:
        return words(error.message)


def _bars(rows: list[tuple[str, Trace | str]], ask: asking.Ask) -> Markup:
    most = max((row.context.tokens for _, row in rows if isinstance(row, Trace)), default=1) or 1
    first = rows[0][1]
    first_tokens = first.context.tokens if isinstance(first, Trace) else 0
    lines: list[Markup] = []
    for place, (title, row) in enumerate(rows):
        if isinstance(row, str):
            lines.append(html('<tr><th role="rowheader">{}</th><td title="{}">–</td><td></td></tr>', title, row))
            continue
        times = f" × {numbers.decimal(row.context.tokens / first_tokens)}" if place and first_tokens else ""
        lines.append(
            html(
                '<tr><th role="rowheader">{}</th><td><i style="width:{}%" class="{}"></i>{}<small>{}</small></td>'
                "<td>{}</td></tr>",
                title,
                round(55 * row.context.tokens / most, 1),
                "other" if place else "own",
                numbers.tokens(row.context.tokens),
                times,
                _gold_squares(row, ask),
            )
        )
    return html('<table class="lr-rivals">{}</table>', joined(lines))


def _gold(trace: Trace, ask: asking.Ask) -> tuple[int, int] | None:
    """Return how many gold passages the context holds, and of how many; None for a question outside the set or without
    gold."""
    samples = session.workbench().question_sets.about(ask.summary.corpus_id)
    gold = next((question for question in samples if question.question == ask.question and question.evidence), None)
    ranking = Outcome(gold, trace).ranking if gold else None
    return None if gold is None or ranking is None else (ranking.n_held, ranking.n)


def _gold_squares(trace: Trace, ask: asking.Ask) -> Markup:
    gold_counts = _gold(trace, ask)
    if gold_counts is None:
        return NOTHING
    squares = joined(
        html("<s></s>") if place < gold_counts[0] else html('<s class="o"></s>') for place in range(gold_counts[1])
    )
    template = '<span class="lr-gold" role="img" aria-label="{}">{}</span>'
    return html(template, say("structure.gold", n=gold_counts[0], all=gold_counts[1]), squares)


def _sentence(trace: Trace, others: list[Trace], ask: asking.Ask) -> Markup:
    sizes = [other.context.tokens for other in others]
    sentence = say("structure.beside", tokens=trace.context.tokens, least=min(sizes), most=max(sizes))
    own_gold, rival_gold = _gold(trace, ask), [gold[0] for other in others if (gold := _gold(other, ask))]
    if own_gold and rival_gold:
        sentence += " " + say(
            "structure.gold_beside", n=own_gold[0], all=own_gold[1], least=min(rival_gold), most=max(rival_gold)
        )
    return markup.muted(sentence)
