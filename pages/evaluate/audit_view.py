"""Judge audit: whether verdicts depend on order, length or chance, and which pairs may be reported."""

import json
from collections.abc import Mapping, Sequence
from functools import partial

import pandas as pd
import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.audit.judges import advice, headline
from leanrag_core.evaluation.audit.records import CANNOT_TELL, Audit, Flip, JudgeAudit, PairAudit
from leanrag_core.figures import numbers
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.types.experiment import ExperimentSummary, Judgement
from pages.common import choices, forms, markup, state
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words
from pages.evaluate import audit_charts, audit_source, figure_view
from pages.evaluate.audit_charts import percent

ROW = "jrow"
_HEIGHT = 360
_TABLE = "judgements_table"


def judgements_fold(judgements: Sequence[Judgement], questions: Mapping[str, str], judge: str, criterion: str) -> None:
    """Draw the judgements of a judge in a fold; a clicked row is shown in full below. questions: their words by id."""
    of_judge = [judgement for judgement in judgements if judgement.judge == judge]
    opened = st.expander(
        say("evaluate.audit.all", n=len(of_judge)), icon=":material/list:", key="audit_judgements", on_change="rerun"
    )
    if not opened.open:
        return
    with opened:
        _table(of_judge, questions, criterion)
        place = state.fitting(ROW, -1, int, lambda value: 0 <= value < len(of_judge))
        if place < 0:
            draw(markup.muted(say("evaluate.audit.click")))
        else:
            _read(of_judge[place])


def _table(judgements: Sequence[Judgement], questions: Mapping[str, str], criterion: str) -> None:
    head = {name: say(f"evaluate.audit.all.{name}") for name in ("question", "kind", "first", "second", "repeat")}
    verdict = audit_charts.criterion_title(criterion) if criterion else say("evaluate.audit.head.verdict")
    table = pd.DataFrame(
        {
            head["question"]: [questions.get(each.question, each.question) for each in judgements],
            head["kind"]: [say(f"evaluate.judgement.{each.kind}") for each in judgements],
            head["first"]: [each.first for each in judgements],
            head["second"]: [each.second or "–" for each in judgements],
            head["repeat"]: [each.repeat + 1 for each in judgements],
            verdict: [verdict_words(each, criterion) for each in judgements],
        }
    )

    forms.clickable_table(
        table,
        partial(state.remember, ROW),
        key=_TABLE,
        height=forms.table_height(len(judgements), _HEIGHT),
        column_config={head["question"]: st.column_config.TextColumn(width=360)},
    )


def verdict_words(judgement: Judgement, criterion: str) -> str:
    """Return what the judgement says by that criterion: a winner, a tie, a score; a dash where it could not be read."""
    verdict = judgement.verdicts.get(criterion)
    if verdict is None:
        return "–"
    if not judgement.second:
        return f"{verdict:g}"
    return {1.0: judgement.first, 2.0: judgement.second}.get(verdict, say("evaluate.audit.tied"))


def _read(judgement: Judgement) -> None:
    """Draw prompt and reply of a judgement."""
    draw(markup.label(audit_charts.judge_title(judgement.judge), f"{judgement.first} / {judgement.second or '–'}"))
    for title, text in (
        (say("evaluate.audit.prompt"), judgement.prompt or say("evaluate.audit.no_prompt")),
        (say("evaluate.audit.reply"), judgement.reply),
    ):
        draw(markup.label(title))
        markup.code(text, height=180)


_MOST = 420  # characters of a reply that are shown beside its verdict
_EXPLANATIONS = ("explanation", "Explanation", "reason", "justification")


def show_flips(
    flips: Sequence[Flip], letters: Mapping[str, str], questions: Mapping[str, str], *, a: str, b: str
) -> None:
    """Draw the flips of a pair, one at a time. questions: their words by id, as far as these are known."""
    pair_flips = [flip for flip in flips if {flip.a, flip.b} == {a, b}]
    figure_view.title(say("evaluate.audit.flip"), say("evaluate.audit.flip_note", n=len(pair_flips)))
    if not pair_flips:
        draw(markup.muted(say("evaluate.audit.no_flips")))
        return
    n = len(pair_flips)
    number = int(choices.number("flip", say("evaluate.audit.flip_number", n=n), 1, (1, n), form=n, width=180))
    flip = pair_flips[number - 1]
    draw(html('<div class="lr-small lr-muted" dir="auto">{}</div>', questions.get(flip.question, flip.question)))
    for judgement in (flip.shown_first, flip.shown_second):
        draw(_said(judgement, flip.criterion, letters))
    with st.popover(say("evaluate.audit.prompts"), type="tertiary", icon=":material/description:", key="audit_prompts"):
        for judgement in (flip.shown_first, flip.shown_second):
            draw(
                markup.label(
                    say("evaluate.audit.shown_first", run=judgement.first), audit_charts.judge_title(judgement.judge)
                )
            )
            markup.code(judgement.prompt or say("evaluate.audit.no_prompt"), height=160)
            markup.code(judgement.reply, height=160)


def _said(judgement: Judgement, criterion: str, letters: Mapping[str, str]) -> Markup:
    winner = {1: judgement.first, 2: judgement.second}.get(int(judgement.verdicts.get(criterion) or 0), "")
    colour = letters.get(winner, "").lower()
    verdict = say("evaluate.audit.won", run=winner) if winner else say("evaluate.audit.tied")
    return html(
        '<div class="lr-said-by" style="--c:var(--lr-{})"><div class="w">{} <b>{}</b></div>'
        '<div class="lr-read" dir="auto">{}</div></div>',
        f"column-{colour}" if colour else "base",
        say("evaluate.audit.shown_first", run=judgement.first),
        verdict,
        explanation(judgement, criterion),
    )


def explanation(judgement: Judgement, criterion: str) -> str:
    """Return the judge's reason under that criterion if its reply can be parsed; else the beginning of the reply."""
    try:
        reply = json.loads(judgement.reply)
    except (ValueError, RecursionError):
        reply = None
    if isinstance(reply, dict):
        for name, part in reply.items():
            if str(name).lower().startswith(criterion.lower()) and isinstance(part, dict):
                text = next((str(part[key]) for key in _EXPLANATIONS if key in part), "")
                if text:
                    return text if len(text) <= _MOST else text[:_MOST].rstrip() + "…"
    return judgement.reply if len(judgement.reply) <= _MOST else judgement.reply[:_MOST].rstrip() + "…"


_LETTERS = ("A", "B", "C", "D")


def show(summaries: Sequence[ExperimentSummary]) -> None:
    """Draw the choice of judgements, the verdict on the judge, its pairs, and charts of its biases and agreement."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="audit_controls"):
        source = audit_source.chosen(summaries)
        audit = None
        if source is not None:
            with st.spinner(say("evaluate.audit.working")):
                audit = audit_source.audit_of(source)
        judge = "" if audit is None else _judge(audit)
        criterion = "" if audit is None else _criterion(audit, judge)
        pairs = (
            []
            if audit is None
            else [pair for pair in audit.pairs if (pair.judge, pair.criterion) == (judge, criterion)]
        )
        read = _pair(pairs) if pairs else None
        audit_source.upload()
    if source is None or audit is None:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.audit.none")))
        return
    judge_audit = audit_source.of_judge(audit, judge)
    if not judge_audit.judges:
        message(words(headline(judge_audit)))
        return
    _panel(judge_audit, audit)
    if source.notes:
        draw(html('<div class="lr-small lr-muted">{}</div>', joined(map(words, source.notes), "<br>")))
    if read is None:
        message(say("evaluate.audit.no_pairs"))
        return
    letters = _letters(pairs)
    draw(audit_charts.table(pairs, letters, read))
    draw(markup.muted(say("evaluate.audit.signs", criterion=audit_charts.criterion_title(criterion))))
    left, middle, right = st.columns(3, gap="large")
    with left:
        audit_charts.bias(judge_audit.first_answer)
    with middle:
        audit_charts.length(judge_audit.length, letters)
    with left if judge_audit.length else middle:  # the middle column is empty without lengths
        show_flips(judge_audit.flips, letters, source.questions, a=read.a, b=read.b)
    with right:
        audit_charts.agreement(audit)
        _by_judge(audit, read)
    judgements_fold(source.judgements, source.questions, judge, criterion)


def _judge(audit: Audit) -> str:
    names = [judge.judge for judge in audit.judges]
    if len(names) < 2:
        return next(iter(names), "")
    titles = {name: audit_charts.judge_title(name) for name in names}
    return choices.dropdown("judge", say("evaluate.audit.judge"), titles, width=210)


def _criterion(audit: Audit, judge: str) -> str:
    """Draw the choice of the pairs' criterion if there are several, and return it; "overall" comes first."""
    names = dict.fromkeys(pair.criterion for pair in audit.pairs if pair.judge == judge)
    ordered = sorted(names, key=lambda name: name != "overall")
    if len(ordered) < 2:
        return next(iter(ordered), "")
    titles = {name: audit_charts.criterion_title(name) for name in ordered}
    return choices.dropdown("criterion", say("evaluate.audit.criterion"), titles, width=190)


def _letters(pairs: Sequence[PairAudit]) -> Mapping[str, str]:
    """Return the letters of the first four runs by name; a run keeps the colour and marker of its letter."""
    names = dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b))
    return dict(zip(names, _LETTERS, strict=False))


def _pair(pairs: Sequence[PairAudit]) -> PairAudit:
    """Draw the choice of the pair whose details stand below the table and return it; by default the one that flips
    most."""
    worst = max(pairs, key=lambda pair: pair.swaps.flip_rate or 0.0)
    titles = {f"{pair.a}~{pair.b}": say("audit.pair", a=pair.a, b=pair.b) for pair in pairs}
    by_name = {f"{pair.a}~{pair.b}": pair for pair in pairs}
    names = list(titles)
    if len(names) == 1:
        return pairs[0]
    chosen = choices.dropdown(
        "pair", say("evaluate.audit.pair"), titles, default=f"{worst.a}~{worst.b}", forgets=("flip",), width=320
    )
    return by_name[str(chosen)]


def _panel(judge_audit: Audit, audit: Audit) -> None:
    """Draw the verdict on the judge, what may be reported, and its figures."""
    judge = judge_audit.judges[0]
    head = headline(judge_audit)
    sentences = [words(each) for each in (*judge.faults, *advice(judge_audit)) if each != head]
    facts = joined(html("<div><span>{}</span><b>{}</b></div>", *fact) for fact in _facts(judge, audit))
    draw(
        html(
            '<div class="lr-verdict {}"><div><div class="t">{}</div><div class="b">{}</div></div>'
            '<div class="f">{}</div></div>',
            "" if judge.holds and not _is_unsure(judge_audit) else "bad",
            words(head),
            joined_sentences(dict.fromkeys(sentences)),
            facts,
        )
    )


def _is_unsure(judge_audit: Audit) -> bool:
    return any(
        pair.verdict == CANNOT_TELL and (pair.swaps.flip_rate or 0) >= audit_charts.MOST_FLIPS
        for pair in judge_audit.pairs
    )


def _facts(judge: JudgeAudit, audit: Audit) -> list[tuple[str, Markup]]:
    flips = judge.swaps.flip_rate
    rows = [
        ("judgements", f"{judge.judgements:,}"),
        ("flips", "–" if flips is None else numbers.share(flips)),
        ("first", percent(judge.first_answer)),
        ("again", percent(judge.consistency)),
        ("longer", percent(judge.longer_wins)),
        ("unparsed", f"{judge.unparsed:,}" if judge.unparsed else "–"),
    ]
    facts = [(say(f"evaluate.audit.fact.{name}"), html("{}", value)) for name, value in rows if value != "–"]
    if audit.fleiss is not None:
        title = say("evaluate.audit.fact.fleiss", n=len(audit.judges))
        facts.append((title, html("{}", numbers.score(audit.fleiss))))
    return facts


def _by_judge(audit: Audit, read: PairAudit) -> None:
    """Draw each judge's result for the pair, and how many questions would be needed to separate the two."""
    rows = [pair for pair in audit.pairs if {pair.a, pair.b} == {read.a, read.b} and pair.criterion == read.criterion]
    figure_view.title(say("evaluate.audit.by_judge"), say("audit.pair", a=read.a, b=read.b))
    head = tuple(say(f"evaluate.audit.judge_head.{name}") for name in ("judge", "wins", "flips", "first"))
    table = [
        (
            audit_charts.judge_title(pair.judge),
            f"{percent(pair.win_rate)} {audit_charts.half_width(pair.win_rate)}",
            "–" if pair.swaps.flip_rate is None else numbers.share(pair.swaps.flip_rate),
            percent(pair.first_answer),
        )
        for pair in rows
    ]
    draw(markup.facts_table(head, table, caption=say("evaluate.audit.by_judge")))
    needed = [
        say("evaluate.audit.needed", judge=audit_charts.judge_title(pair.judge), n=pair.questions_needed)
        for pair in rows
        if pair.questions_needed
    ]
    if needed:
        draw(markup.muted(joined_sentences(needed)))
