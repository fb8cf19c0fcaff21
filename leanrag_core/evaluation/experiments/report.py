"""An experiment as a file: HTML in a language with every value escaped, JSON, and CSV for spreadsheets."""

import csv
import io
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from markupsafe import Markup

from leanrag_core.evaluation.audit.judges import advice, audit, headline
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.judging.tables import MeanScore, grades, mean_scores, win_rates
from leanrag_core.evaluation.measuring import measure_infos, written, written_difference
from leanrag_core.evaluation.run_titles import experiment_title, run_titles, titled
from leanrag_core.evaluation.statistics import Interval
from leanrag_core.evaluation.tables import (
    RECALL,
    RELATIVE,
    TOKENS,
    Cell,
    KindDifference,
    grounds,
    kinds_of,
    measured,
    pays,
    score_table,
)
from leanrag_core.figures import numbers
from leanrag_core.figures.chart import spreadsheet_cell
from leanrag_core.figures.html import html, html_file, joined
from leanrag_core.figures.interval_marks import CellScale, column_scale
from leanrag_core.files.records import json_bytes, plain, to_json
from leanrag_core.messages.catalog import codes, joined_sentences, sentence
from leanrag_core.messages.message import Message, Value, message
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.experiment import ExperimentResult, QuestionRow


class Writing:
    """Writes sentences and rows of tables in a language."""

    def __init__(self, language: str) -> None:
        self.language = language

    def say(self, code: str | Message, **values: Value) -> str:
        """Return the sentence of that code."""
        return sentence(message(code, **values) if isinstance(code, str) else code, self.language)

    def kind(self, kind: str) -> str:
        """Return a kind of question in words; one of a person's own as it is."""
        code = f"evaluate.kind.{kind.lower().replace(' ', '-')}"
        return self.say(code) if code in codes() else kind

    def runs(self, result: ExperimentResult) -> dict[str, str]:
        """Return what each run is called, by its key."""
        return {key: self.say(title) for key, title in run_titles(result.spec.runs).items()}

    def row(self, cells: Sequence[object], tag: str = "td") -> Markup:
        """Return a row of a table."""
        return html("<tr>{}</tr>", joined(html(f"<{tag}>{{}}</{tag}>", cell) for cell in cells))


def score_part(write: Writing, result: ExperimentResult, kind: str) -> Markup:
    """Write the score table of a kind of questions, of all for ""."""
    table = score_table(result, kind)
    titles = {info.name: write.say(info.title) for info in measure_infos()}
    titles[RELATIVE] = write.say("measure.relative-context.title")
    heads = [write.say("experiment.file.run"), *(titles[measure] for measure in table.measures)]
    scales = {measure: column_scale(row.cells[measure].interval for row in table.rows) for measure in table.measures}
    lines = []
    run_names = write.runs(result)
    for row in table.rows:
        cells = [_cell(measure, row.cells[measure], scales[measure]) for measure in table.measures]
        latency = "–" if row.latency_ms is None else numbers.duration(row.latency_ms / 1000)
        lines.append(
            html(
                '<tr><td>{}<div class="mute">{}</div></td>{}<td>{}</td></tr>',
                run_names[row.run.key],
                write.say(settings_words(row.run.strategy, row.run.options)),
                joined(cells),
                latency,
            )
        )
    leading = RECALL if RECALL in table.measures else table.measures[0]
    remarks = grounds(result, [row.run.key for row in table.rows], leading, kind) if table.measures else ()
    heading = (
        write.say("experiment.file.kind", kind=write.kind(kind)) if kind else write.say("experiment.file.all_questions")
    )
    facts = write.say("experiment.file.n_questions", n=table.questions)
    facts += write.say("text.stop") if remarks else ""
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div><p class="mute">{}</p>',
        heading,
        joined_sentences((facts, *map(write.say, remarks))),
        write.row([*heads, write.say("experiment.file.latency")], "th"),
        joined(lines),
        write.say("experiment.file.letters"),
    )


def _cell(measure: str, cell: Cell, scale: CellScale) -> Markup:
    if cell.interval is None:
        return Markup("<td>–</td>")
    mark = scale.mark(cell.interval)
    return html(
        '<td class="{}" title="{}">{}<sup>{}</sup><span class="cell"><i style="left:{}%;width:{}%"></i>'
        '<b style="left:{}%"></b></span></td>',
        "best" if cell.is_best else "",
        bounds(cell.interval, partial(written, measure)),
        written(measure, cell.interval.value),
        cell.letters,
        mark.left,
        mark.width,
        mark.dot,
    )


def pays_part(write: Writing, result: ExperimentResult) -> Markup:
    """Write the differences of each run from the baseline, by kind of question; nothing without a baseline or without
    gold."""
    baseline, others = result.spec.baseline, [run.key for run in result.spec.runs if run.key != result.spec.baseline]
    measures = measured(result, only_main=False)
    measure = RECALL if RECALL in measures else TOKENS
    if not baseline or measure not in measures:
        return Markup("")
    differences = pays(result, others, baseline, measure)
    kinds = [each.kind for each in next(iter(differences.values()), ())]
    heads = [write.kind(kind) if kind else write.say("experiment.file.all_questions") for kind in kinds]
    run_names = write.runs(result)
    lines = [
        write.row([run_names[key], *(_difference(measure, each) for each in by_kind)])
        for key, by_kind in differences.items()
    ]
    title = next(write.say(info.title) for info in measure_infos() if info.name == measure)
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div>',
        write.say("experiment.file.pays"),
        write.say("experiment.file.pays_how", measure=title, baseline=run_names[baseline]),
        write.row([write.say("experiment.file.run"), *heads], "th"),
        joined(lines),
    )


def _difference(measure: str, difference: KindDifference) -> str:
    interval = difference.interval
    if interval is None:
        return "–"
    sure = " *" if difference.is_told else ""
    shown = partial(written_difference, measure)
    return f"{shown(interval.value)} [{bounds(interval, shown)}]{sure}"


def bounds(interval: Interval, shown: Callable[[float], str]) -> str:
    """Format the interval as its lower and upper end. shown: writes a number of its kind."""
    if interval.low is None or interval.high is None:
        return "–"
    return f"{shown(interval.low)} … {shown(interval.high)}"


_SCORE_HEADS = ("judge", "run", "criterion", "score", "interval", "words", "equal_length", "unparsed")
_PAIR_HEADS = ("judge", "pair", "criterion", "win_rate", "interval", "p", "words", "equal_length", "unparsed")


def judged_tables(write: Writing, result: ExperimentResult) -> Markup:
    """Write the audit in sentences, mean scores, win rates and grades of each judge; nothing if nothing was judged."""
    if not result.judgements:
        return Markup("")
    result, seed = replace(result, judgements=titled(result.judgements, write.runs(result))), result.spec.seed
    return joined(
        (
            _audit(write, result),
            _scores(
                write,
                "experiment.file.scores",
                mean_scores(result.judgements, seed=seed),
                partial(numbers.decimal, places=2),
            ),
            _win_rates(write, result),
            _scores(write, "experiment.file.grades", grades(result.judgements, seed), numbers.share),
        )
    )


def _audit(write: Writing, result: ExperimentResult) -> Markup:
    audited = audit(result.judgements, result.spec.seed)
    sentences = [write.say(each) for each in (headline(audited), *advice(audited))]
    faults = [f"{judge.judge}: {write.say(fault)}" for judge in audited.judges for fault in judge.faults]
    lines = joined(html("<li>{}</li>", each) for each in (*sentences, *faults))
    return html("<h2>{}</h2><ul>{}</ul>", write.say("experiment.file.audit"), lines)


def _scores(write: Writing, title: str, scores: Sequence[MeanScore], shown: Callable[[float], str]) -> Markup:
    lines = [
        (
            each.judge,
            each.run,
            each.criterion,
            shown(each.mean.value),
            bounds(each.mean, shown),
            "–" if each.words is None else f"{each.words:,.0f}",
            "–" if each.equal_length is None else shown(each.equal_length.value),
            each.unparsed,
        )
        for each in scores
        if each.mean is not None
    ]
    return _table(write, title, _SCORE_HEADS, lines)


def _win_rates(write: Writing, result: ExperimentResult) -> Markup:
    titles = write.runs(result)
    order = [titles[key] for key in result.spec.order]
    lines = [
        (
            each.judge,
            f"{each.a} / {each.b}",
            each.criterion,
            numbers.share(each.win_rate.value),
            bounds(each.win_rate, numbers.share),
            numbers.p_value(each.p_holm),
            "–" if each.words is None else f"{each.words[0]:,.0f} / {each.words[1]:,.0f}",
            "–" if each.length is None else numbers.share(each.length.equal_length.value),
            each.unparsed,
        )
        for each in win_rates(result.judgements, result.spec.seed, order)
        if each.win_rate is not None
    ]
    return _table(write, "experiment.file.win_rates", _PAIR_HEADS, lines)


def _table(write: Writing, title: str, heads: Sequence[str], lines: Sequence[Sequence[object]]) -> Markup:
    """Write a table with its title; nothing where there are no lines."""
    if not lines:
        return Markup("")
    return html(
        '<h2>{}</h2><p class="mute">{}</p><div class="wide"><table>{}{}</table></div>',
        write.say(title),
        write.say("experiment.file.judged_note"),
        write.row([write.say(f"experiment.file.{head}") for head in heads], "th"),
        joined(write.row(line) for line in lines),
    )


_STYLE = """
body{font:15px/1.45 "Source Sans","Source Sans Pro",system-ui,sans-serif;margin:0}
body{color:var(--lr-text);background:var(--lr-bg)}
main{max-width:1200px;margin:0 auto;padding:1.5rem}
table{border-collapse:collapse;margin:.6rem 0 1.4rem;width:100%}
th,td{border-bottom:1px solid var(--lr-line);padding:.25rem .6rem;text-align:right;vertical-align:top}
th:first-child,td:first-child{text-align:left}
td.text{text-align:left;white-space:pre-wrap;overflow-wrap:anywhere}
.wide{overflow-x:auto}.mute{color:var(--lr-mute)}.best{font-weight:600;background:var(--lr-surf)}
.cell{display:block;position:relative;height:8px;min-width:70px;background:linear-gradient(var(--lr-line),
var(--lr-line)) center/100% 1px no-repeat}
.cell i{position:absolute;top:3px;height:2px;background:var(--lr-mute)}
.cell b{position:absolute;top:1px;width:6px;height:6px;margin-left:-3px;border-radius:50%;background:var(--lr-prim)}
.published{border:1px dashed var(--lr-mute);padding:0 .3rem}
pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--lr-surf);padding:.8rem}
sup{font-size:.7em}
"""


def as_html(result: ExperimentResult, questions: tuple[GoldQuestion, ...], language: str = "en") -> bytes:
    """Write the HTML file: tables for all questions and for each kind, differences from the baseline, judgements, each
    question, and the specification, with which the experiment is run again."""
    write = Writing(language)
    kinds, title = kinds_of(result), write.say(experiment_title(result.spec.title))
    parts = [
        html("<h1>{}</h1>", title),
        html('<p class="mute">{}</p>', _facts(write, result, questions)),
        score_part(write, result, ""),
        pays_part(write, result),
        *(score_part(write, result, kind) for kind in kinds if len(kinds) > 1),
        judged_tables(write, result),
        _questions(write, result, {question.id: question for question in questions}),
        _again(write, result),
    ]
    body = html("<main>{}</main>", joined(parts))
    return html_file(body, title=title, language=language, styles=_STYLE).encode()


def _facts(write: Writing, result: ExperimentResult, questions: Sequence[GoldQuestion]) -> str:
    errors = sum(bool(row.error) for row in result.rows)
    facts = write.say("experiment.file.facts", runs=len(result.spec.runs), questions=len(questions))
    state = "" if result.is_complete else write.say("experiment.file.incomplete")
    failed = write.say("experiment.file.failed", n=errors) if errors else ""
    return joined_sentences((facts, state, failed))


def _questions(write: Writing, result: ExperimentResult, known: Mapping[str, GoldQuestion]) -> Markup:
    """Write each question as a foldable section: what each run found and answered."""
    main_infos = [info for info in measure_infos() if info.is_main]
    rows_of: dict[str, list[QuestionRow]] = {}
    for row in result.rows:
        rows_of.setdefault(row.question, []).append(row)
    folds, run_names = [], write.runs(result)
    for id_, rows in rows_of.items():
        question = known.get(id_)
        scored_infos = [info for info in main_infos if any(row.scores.get(info.name) is not None for row in rows)]
        heads = [write.say("experiment.file.run"), *(write.say(info.title) for info in scored_infos)]
        lines = [
            joined(
                (
                    write.row([run_names[row.run], *(_figure(row, info.name) for info in scored_infos)]),
                    html('<tr><td class="text" colspan="{}">{}</td></tr>', len(heads), row.error or row.answer)
                    if row.error or row.answer
                    else "",
                )
            )
            for row in rows
        ]
        folds.append(
            html(
                '<details><summary dir="auto">{} <span class="mute">{}</span></summary>'
                '<p class="mute" dir="auto">{}</p>'
                '<div class="wide"><table>{}{}</table></div></details>',
                question.question if question else id_,
                write.kind(rows[0].kind),
                " | ".join(question.answers) if question else "",
                write.row(heads, "th"),
                joined(lines),
            )
        )
    return html("<h2>{}</h2>{}", write.say("experiment.file.questions"), joined(folds))


def _figure(row: QuestionRow, measure: str) -> str:
    score = row.scores.get(measure)
    return "–" if score is None else written(measure, score)


def _again(write: Writing, result: ExperimentResult) -> Markup:
    versions = ", ".join(f"{name} {value}" for name, value in sorted(result.versions.items()))
    return html(
        "<h2>{}</h2><p>{}</p><pre>python -m leanrag_core experiment run spec.json</pre><pre>{}</pre>"
        '<p class="mute">{}</p>',
        write.say("experiment.file.again"),
        write.say("experiment.file.again_how"),
        to_json(result.spec, indent=1).decode(),
        versions,
    )


FORMATS = ("csv", "json", "html")
_BEFORE = ("run", "index", "strategy", "options", "question", "kind", "text")
_COSTS = ("retrieval_ms", "answer_ms", "calls", "prompt_tokens", "completion_tokens", "cost")
_AFTER = ("passages", "answer", "error", *_COSTS)


def as_json(result: ExperimentResult, questions: tuple[GoldQuestion, ...]) -> bytes:
    """Write everything as JSON: the specification (which `experiment run FILE` takes), versions, questions, rows,
    costs and judgements."""
    return json_bytes({**plain(result), "questions": [plain(question) for question in questions]}, indent=1)


def as_csv(result: ExperimentResult, questions: tuple[GoldQuestion, ...]) -> bytes:
    """Write a CSV line for each question of each run, with a column for each measure; UTF-8 with a mark, for
    spreadsheets."""
    names = sorted({name for row in result.rows for name in row.scores})
    runs = {run.key: run for run in result.spec.runs}
    run_names = Writing("en").runs(result)
    texts = {question.id: question.question for question in questions}
    costs = {(cost.run, cost.question): cost for cost in result.costs}
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow([*_BEFORE, *names, *_AFTER])
    for row in result.rows:
        run, cost = runs[row.run], costs.get((row.run, row.question))
        options = json.dumps(dict(run.options), sort_keys=True, ensure_ascii=False)
        spent = ["" if (value := getattr(cost, name, None)) is None else value for name in _COSTS]
        of_run = [run_names[row.run], run.index, run.strategy, options]
        texts_of_row = [*of_run, row.question, row.kind, texts.get(row.question, "")]
        scores = ["" if row.scores.get(name) is None else row.scores[name] for name in names]
        written = [" ".join(row.passages), row.answer, row.error]  # a model's words may begin as a formula does
        writer.writerow([*map(spreadsheet_cell, texts_of_row), *scores, *map(spreadsheet_cell, written), *spent])
    return out.getvalue().encode("utf-8-sig")
