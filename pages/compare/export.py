"""A comparison as one HTML file without scripts or requests; every text from documents and models is escaped."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from markupsafe import Markup

from leanrag_core.comparing.lost_evidence import STAGES
from leanrag_core.comparing.sentences import said_alone
from leanrag_core.comparing.sharing import Shared
from leanrag_core.figures.html import NOTHING, html, html_file, joined
from leanrag_core.figures.passages import passage_name
from leanrag_core.figures.small_graph import aligned, small_graph
from leanrag_core.types.trace import Trace
from pages.common.html import svg
from pages.common.messages import language, say, words
from pages.compare import columns, contexts_view, fragments, missed_view, sharing_view
from pages.compare.gold_view import GoldOf
from pages.compare.loading import Loaded, traces_of

_HERE = Path(__file__).resolve().parent
_STYLES = (_HERE.parent / "common" / "style.css", _HERE / "compare.css", _HERE / "export.css")
_GRAPH, _LANE = 340, 590  # px


def page(loaded: Sequence[Loaded], shared: Shared, gold: GoldOf, question: str) -> str:
    """Return the file. What the page shows after a click (texts of passages, contexts) is folded."""
    traces = traces_of(loaded)
    body = joined(
        (
            html("<h1>{}</h1>", say("page.compare")),
            html('<p class="lr-muted">{}</p>', fragments.columns_sentence(loaded)),
            html('<p class="lr-read" dir="auto" style="font-size:1.2rem">{}</p>', question),
            html('<div class="cols">{}</div>', joined(_columns(loaded, traces, shared, gold))),
            _sharing(loaded, shared, gold),
            html("<h2>{}</h2>{}", say("compare.view.contexts"), contexts_view.table(loaded, differences_only=False)),
            _missed(loaded, gold),
            html('<p class="lr-muted lr-small">{}</p>', say("compare.exported")),
        )
    )
    return html_file(
        html("<main>{}</main>", body),
        title=say("text.titled", title=say("page.compare"), text=question),
        language=language(),
        styles="".join(path.read_text(encoding="utf-8") for path in _STYLES),
    )


def _columns(loaded: Sequence[Loaded], traces: Mapping[str, Trace], shared: Shared, gold: GoldOf) -> list[Markup]:
    slots = aligned(traces)
    alone = said_alone({each.letter: each.answer for each in loaded if each.answer is not None})
    most = max((trace.context.tokens for trace in traces.values()), default=1)
    letter = columns.baseline(list(traces))
    base = next((each for each in loaded if each.letter == letter), None)
    tick = base.trace.context.tokens if base is not None and base.trace is not None else None
    parts = []
    for each in loaded:
        head = joined((fragments.rule(each.letter), fragments.heading(each), fragments.settings(each)))
        if each.trace is None:
            why = words(each.error) if each.error is not None else say("compare.press_compare")
            parts.append(html('<div>{}<p class="lr-muted">{}</p></div>', head, why))
            continue
        owners = shared.owners.get(each.letter, {})
        gold_ids = gold.found_ids.get(each.letter, ())
        drawing = small_graph(each.letter, each.trace, slots, owners, width=_GRAPH, language=language())
        answer = NOTHING
        if each.answer is not None:
            answer = fragments.answer_text(each.answer, each.letter, alone.get(each.letter, frozenset()))
        figures = fragments.figures(
            each, base, (gold.n_found(each.letter), len(gold.evidence)) if gold.evidence else None
        )
        bar = fragments.token_bar(each.trace, most, tick)
        note = fragments.gold_chunks(each.trace, gold_ids, gold.n_found(each.letter))
        passages = joined(_passages(each, each.trace, owners, gold_ids, list(traces)))
        counted = html('<p class="lr-muted lr-small">{}</p>', note) if note else NOTHING
        context = html(
            "<details><summary>{}</summary><pre>{}</pre></details>", say("ask.context_text"), each.trace.context.text
        )
        rest = (figures, answer, svg(drawing), bar, passages, counted, context)
        parts.append(html("<div>{}{}</div>", head, joined(rest)))
    return parts


def _passages(
    loaded: Loaded, trace: Trace, owners: Mapping[str, str], gold_ids: Sequence[str], letters: Sequence[str]
) -> list[Markup]:
    marks = trace.context.mark_of
    lines = []
    for passage in trace.passages:
        mark = marks.get(passage.id, "")
        having = owners.get(passage.id, loaded.letter)
        gold = html(' <span class="lr-gold">{}</span>', say("compare.gold")) if passage.id in gold_ids else NOTHING
        head = html(
            '<summary>{}<span class="lr-mark" style="--c:var(--lr-chunk)">{}</span> <bdi>{}</bdi>{} '
            '<span class="lr-muted lr-small">{}</span></summary>',
            fragments.owners(letters, having),
            mark or "–",
            passage_name(passage, language()),
            gold,
            fragments.cited_text(loaded.answer, mark),
        )
        lines.append(html('<details>{}<div class="text" dir="auto">{}</div></details>', head, passage.text))
    return lines


def _sharing(loaded: Sequence[Loaded], shared: Shared, gold: GoldOf) -> Markup:
    if len(traces_of(loaded)) < 2:
        return NOTHING
    template = '<div><div class="lr-upset">{}</div>{}</div>'
    pictures = joined(
        html(template, say(f"compare.kind.{sharing.kind}"), svg(sharing_view.pictures(sharing)[0]))
        for sharing in shared.kinds
    )
    return html(
        '<h2>{}</h2><p class="lr-muted">{}</p><div class="kinds">{}</div>{}',
        say("compare.what_they_share"),
        sharing_view.sentence(loaded, shared, gold),
        pictures,
        sharing_view.table(shared),
    )


def _missed(loaded: Sequence[Loaded], gold: GoldOf) -> Markup:
    if not gold.evidence:
        return NOTHING
    stages = say("ask.comma").join(f"{n} {say(f'missed.stage.{stage}')}" for n, stage in enumerate(STAGES, start=1))
    parts = [html('<h2>{}</h2><p class="lr-muted lr-small">{}</p>', say("compare.view.missed"), stages)]
    titles = {each.letter: each.head.title for each in loaded}
    for place, piece in enumerate(gold.evidence):
        template = '<p class="lr-gpass"><b>{}</b><br>{}</p>'
        parts.append(html(template, piece.name(language()), piece.quote if piece.kind == "passage" else ""))
        for letter, lanes in gold.lanes.items():
            lane = missed_view.lane_of(letter, lanes[place], titles.get(letter, ""), _LANE)
            name = html("<span>{} {}</span>", fragments.square(letter), titles.get(letter, ""))
            parts.append(html('<div class="lane">{}{}</div>', name, svg(lane)))
    return joined(parts)
