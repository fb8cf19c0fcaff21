"""An experiment as one HTML file: no script, no request, every text of documents and models escaped."""

from collections.abc import Mapping, Sequence

from markupsafe import Markup

from leanrag_core.evaluation.base import measure_infos
from leanrag_core.evaluation.experiments.judged_parts import judged_tables
from leanrag_core.evaluation.experiments.report_parts import pays_part, score_part
from leanrag_core.evaluation.experiments.report_writing import Writing
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.tables import kinds_of
from leanrag_core.figures.html import html, html_file, joined
from leanrag_core.files.records import to_json
from leanrag_core.types.experiment import ExperimentResult, QuestionRow

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
    kinds = kinds_of(result)
    parts = [
        html("<h1>{}</h1>", result.spec.title),
        html('<p class="mute">{}</p>', _facts(write, result, questions)),
        score_part(write, result, ""),
        pays_part(write, result),
        *(score_part(write, result, kind) for kind in kinds if len(kinds) > 1),
        judged_tables(write, result),
        _questions(write, result, {question.id: question for question in questions}),
        _again(write, result),
    ]
    body = html("<main>{}</main>", joined(parts))
    return html_file(body, title=result.spec.title, language=language, styles=_STYLE).encode()


def _facts(write: Writing, result: ExperimentResult, questions: Sequence[GoldQuestion]) -> str:
    errors = sum(bool(row.error) for row in result.rows)
    facts = write.say("experiment.file.facts", runs=len(result.spec.runs), questions=len(questions))
    state = "" if result.is_complete else write.say("experiment.file.incomplete")
    failed = write.say("experiment.file.failed", n=errors) if errors else ""
    return " ".join(part for part in (facts, state, failed) if part)


def _questions(write: Writing, result: ExperimentResult, known: Mapping[str, GoldQuestion]) -> Markup:
    """Write each question as a foldable section: what each run found and answered."""
    shown = [info for info in measure_infos() if info.is_main]
    rows_of: dict[str, list[QuestionRow]] = {}
    for row in result.rows:
        rows_of.setdefault(row.question, []).append(row)
    folds = []
    for id_, rows in rows_of.items():
        question = known.get(id_)
        have = [info for info in shown if any(row.scores.get(info.name) is not None for row in rows)]
        heads = [write.say("experiment.file.run"), *(write.say(info.title) for info in have)]
        lines = [
            joined(
                (
                    write.row([row.run, *(_figure(row.scores.get(info.name)) for info in have)]),
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
                rows[0].kind,
                " | ".join(question.answers) if question else "",
                write.row(heads, "th"),
                joined(lines),
            )
        )
    return html("<h2>{}</h2>{}", write.say("experiment.file.questions"), joined(folds))


def _figure(score: float | None) -> str:
    return "–" if score is None else f"{score:,.3f}".rstrip("0").rstrip(".")


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
