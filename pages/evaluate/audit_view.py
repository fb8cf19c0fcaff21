"""Judge audit: whether verdicts depend on order, length or chance, and which pairs may be reported."""

from collections.abc import Mapping, Sequence

import streamlit as st
from markupsafe import Markup

from leanrag_core.evaluation.audit.judges import advice, headline
from leanrag_core.evaluation.audit.records import CANNOT_TELL, Audit, JudgeAudit, PairAudit
from leanrag_core.figures import numbers
from leanrag_core.types.config import model_title
from leanrag_core.types.experiment import ExperimentSummary
from pages.common import choices, markup
from pages.common.html import draw, html, joined
from pages.common.messages import message, say, words
from pages.evaluate import audit_charts, audit_source, audit_table, figure_view, flip_view, judgements_view
from pages.evaluate.audit_table import percent

_LETTERS = ("A", "B", "C", "D")


def show(summaries: Sequence[ExperimentSummary]) -> None:
    """Where judgements come from, the verdict on the judge, its pairs, and what leads it."""
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
    own = audit_source.of_judge(audit, judge)
    if not own.judges:
        message(words(headline(own)))
        return
    _panel(own, audit)
    if source.notes:
        draw(html('<div class="lr-small lr-muted">{}</div>', joined(map(words, source.notes), "<br>")))
    if read is None:
        message(say("evaluate.audit.no_pairs"))
        return
    letters = _letters(pairs)
    draw(audit_table.table(pairs, letters, read))
    draw(markup.muted(say("evaluate.audit.signs", criterion=audit_charts.criterion_title(criterion))))
    left, middle, right = st.columns(3, gap="large")
    with left:
        audit_charts.bias(own.first_answer)
    with middle:
        audit_charts.length(own.length, letters)
    with left if own.length else middle:  # without lengths there is room in the middle
        flip_view.show(own.flips, letters, source.questions, a=read.a, b=read.b)
    with right:
        audit_charts.agreement(audit)
        _by_judge(audit, read)
    judgements_view.fold(source.judgements, source.questions, judge, criterion)


def _judge(audit: Audit) -> str:
    names = [judge.judge for judge in audit.judges]
    if len(names) < 2:
        return next(iter(names), "")
    titles = {name: model_title(name) for name in names}
    return choices.dropdown("judge", say("evaluate.audit.judge"), titles, width=210)


def _criterion(audit: Audit, judge: str) -> str:
    """The criterion of the pairs; overall comes first."""
    names = dict.fromkeys(pair.criterion for pair in audit.pairs if pair.judge == judge)
    ordered = sorted(names, key=lambda name: name != "overall")
    if len(ordered) < 2:
        return next(iter(ordered), "")
    titles = {name: audit_charts.criterion_title(name) for name in ordered}
    return choices.dropdown("criterion", say("evaluate.audit.criterion"), titles, width=190)


def _letters(pairs: Sequence[PairAudit]) -> Mapping[str, str]:
    """The first four runs keep a letter, a colour and a marker."""
    names = dict.fromkeys(name for pair in pairs for name in (pair.a, pair.b))
    return dict(zip(names, _LETTERS, strict=False))


def _pair(pairs: Sequence[PairAudit]) -> PairAudit:
    """The pair that is read below the table: the one whose verdicts flip most often, until a person picks one."""
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


def _panel(own: Audit, audit: Audit) -> None:
    """The verdict on the judge, what may be reported, and its figures."""
    judge = own.judges[0]
    said = [words(fault) for fault in judge.faults] + [words(each) for each in advice(own)]
    facts = joined(html("<div><span>{}</span><b>{}</b></div>", *fact) for fact in _facts(judge, audit))
    draw(
        html(
            '<div class="lr-verdict {}"><div><div class="t">{}</div><div class="b">{}</div></div>'
            '<div class="f">{}</div></div>',
            "" if judge.holds and not _is_unsure(own) else "bad",
            words(headline(own)),
            say("text.space").join(dict.fromkeys(said)),
            facts,
        )
    )


def _is_unsure(own: Audit) -> bool:
    return any(
        pair.verdict == CANNOT_TELL and (pair.swaps.flip_rate or 0) >= audit_table.MOST_FLIPS for pair in own.pairs
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
    """The pair by each judge; and how many questions would separate the two."""
    rows = [pair for pair in audit.pairs if {pair.a, pair.b} == {read.a, read.b} and pair.criterion == read.criterion]
    figure_view.title(say("evaluate.audit.by_judge"), say("audit.pair", a=read.a, b=read.b))
    head = tuple(say(f"evaluate.audit.judge_head.{name}") for name in ("judge", "wins", "flips", "first"))
    table = [
        (
            model_title(pair.judge),
            f"{percent(pair.win_rate)} {audit_table.half_width(pair.win_rate)}",
            "–" if pair.swaps.flip_rate is None else numbers.share(pair.swaps.flip_rate),
            percent(pair.first_answer),
        )
        for pair in rows
    ]
    draw(markup.facts_table(head, table, caption=say("evaluate.audit.by_judge")))
    needed = [
        say("evaluate.audit.needed", judge=model_title(pair.judge), n=pair.questions_needed)
        for pair in rows
        if pair.questions_needed
    ]
    if needed:
        draw(markup.muted(say("text.space").join(needed)))
