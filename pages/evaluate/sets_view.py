"""Question sets: the list, the content of each, and the ways to get a new one."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.evaluation.question_sets.reading import MAX_BYTES, read_set
from leanrag_core.messages.catalog import joined_sentences
from leanrag_core.storage.question_sets import MAX_TITLE
from leanrag_core.types.config import BUILTIN, model_title
from leanrag_core.types.question_set import TEMPLATE_KINDS, Generation, QuestionSetInfo
from leanrag_core.types.summary import IndexSummary
from leanrag_core.types.visible import shortened
from leanrag_core.workbench.question_sets import generated_title
from pages.common import buttons, choices, deletion, dialogs, downloads, forms, markup, session, state, uploads
from pages.common.frame import plain_errors
from pages.common.html import draw, html
from pages.common.messages import message, say, words
from pages.evaluate import experiments, figure_view, measure_words
from pages.settings import endpoint_view

_FILE = "set_file"
_ADDED = "lr_sets_added"  # in the session: how many sets were added from files
_COLUMNS = ("question", "type", "answers", "document", "quote")
_PREVIEWED = 5


def upload() -> None:
    """Draw the upload of a JSONL, JSON or CSV file, and show its first questions or the wrong line."""
    added = st.session_state.get(_ADDED, 0)  # a new key closes the popover and drops its file
    key = f"{_FILE}_{added}"
    with st.popover(say("evaluate.sets.upload"), icon=":material/upload_file:", key=f"set_upload_{added}"):
        draw(markup.muted(say("evaluate.sets.upload_hint")))
        label, types = say("evaluate.sets.file"), ["jsonl", "json", "csv", "tsv"]
        megabytes = MAX_BYTES // 1_000_000
        file = uploads.field(label, key, megabytes=megabytes, type=types, label_visibility="collapsed")
        if file is None:
            return
        bench = session.workbench()
        try:
            questions = read_set(file.getvalue(), file.name)
        except LeanRAGError as error:
            message(error, kind="error", title=say("evaluate.sets.not_read"))
            return
        _preview(questions)
        title, corpus = _title(file.name.rsplit(".", 1)[0], "upload"), _corpus("upload")
        if buttons.primary(say("evaluate.sets.add"), "add", "primary_set_add"):
            with plain_errors():
                state.remember(
                    experiments.SET,
                    bench.question_sets.add_file(file.name, file.getvalue(), title=title, corpus_id=corpus),
                )
                st.session_state[_ADDED] = added + 1
                st.rerun()


def _preview(questions: Sequence[GoldQuestion]) -> None:
    n_evidence = sum(bool(each.evidence) for each in questions)
    draw(markup.muted(say("evaluate.sets.read", n=len(questions), evidence=n_evidence)))
    rows = [(each.question, each.kind, each.answer or " | ".join(each.answers)) for each in questions[:_PREVIEWED]]
    head = tuple(say(f"evaluate.sets.head.{name}") for name in ("question", "kind", "answer"))
    draw(markup.reading_table(head, rows, caption=say("evaluate.sets.preview")))


def _title(default: str, key: str) -> str:
    return st.text_input(say("evaluate.sets.title"), shortened(default, MAX_TITLE), MAX_TITLE, key=f"set_title_{key}")


def _corpus(key: str) -> str:
    """Draw the choice of the corpus of the questions and return it, "" for none; by default the chosen index's."""
    titles = {"": say("evaluate.sets.no_corpus")}
    titles |= {corpus.id: corpus.name for corpus in session.workbench().corpora.all()}
    default = experiments.corpus_of_index()
    return str(choices.selectbox(say("evaluate.sets.corpus"), titles, default, key=f"set_corpus_{key}"))


def write() -> None:
    """Draw the button that opens a table to write questions by hand; several answers are separated by |."""
    title, icon = say("evaluate.sets.write_title"), ":material/edit_note:"
    dialogs.form(say("evaluate.sets.write"), title, _write, key="set_write", width="large", icon=icon)


def _write() -> None:
    draw(markup.muted(say("evaluate.sets.write_hint")))
    empty = pd.DataFrame({name: pd.Series([""] * 3, dtype="string") for name in _COLUMNS})
    heads = {name: say(f"evaluate.sets.column.{name}") for name in _COLUMNS}
    edited = st.data_editor(
        empty,
        num_rows="dynamic",
        hide_index=True,
        key="set_editor",
        column_config={
            name: st.column_config.TextColumn(heads[name], width=260 if name in ("question", "quote") else 110)
            for name in _COLUMNS
        },
    )
    title, corpus = _title("", "write"), _corpus("write")
    if buttons.primary(say("evaluate.sets.add"), "add", "primary_set_written"):
        bench = session.workbench()
        with plain_errors():
            questions = read_set(written(edited.to_dict("records")), "questions.jsonl")
            state.remember(
                experiments.SET,
                bench.question_sets.add(title or say("evaluate.sets.untitled"), questions, corpus_id=corpus),
            )
            dialogs.close()
            st.rerun()


def written(rows: Sequence[Mapping[Any, Any]]) -> bytes:
    """Return the rows of the table as a file of questions, without empty rows."""
    lines = []
    for row in rows:
        cells = {name: _text(row.get(name)) for name in _COLUMNS}
        if any(cells.values()):
            lines.append(json.dumps({name: text for name, text in cells.items() if text or name == "question"}))
    return "\n".join(lines).encode()


def _text(cell: Any) -> str:
    return "" if cell is None or pd.isna(cell) else str(cell).strip()


def generate() -> None:
    """Draw the button that opens a form to make questions from an index, by templates or by a language model."""
    indexes = {each.id: each for each in session.index_list().indexes}
    if not indexes:
        return
    title, icon = say("evaluate.sets.generate_title"), ":material/auto_awesome:"
    start = partial(_generate, indexes)
    dialogs.form(say("evaluate.sets.generate"), title, start, key="set_generate", width="medium", icon=icon)


def _generate(indexes: Mapping[str, IndexSummary]) -> None:
    draw(markup.muted(say("evaluate.sets.generate_hint")))
    titles = {id_: each.title for id_, each in indexes.items()}
    index = choices.selectbox(say("frame.index"), titles, state.recall("index"), key="generate_index")
    model = _model()
    kinds = {kind: measure_words.kind_title(kind) for kind in TEMPLATE_KINDS}
    if model == BUILTIN:
        left, right = st.columns(2, gap="small")
        with left:
            n = st.number_input(say("evaluate.sets.per_kind"), 1, 200, 10, key="generate_n")
        with right:
            seed = st.number_input(say("evaluate.sets.seed"), 0, 2**31, 0, key="generate_seed")
        chosen = choices.several_pills(say("evaluate.kind"), kinds, tuple(kinds), key="generate_kinds", wrap=True)
        generation = Generation(n=int(n), seed=int(seed), kinds=tuple(chosen or TEMPLATE_KINDS))
    else:
        names = ("users", "tasks", "questions")
        counts = []
        for name, column in zip(names, st.columns(3, gap="small"), strict=True):
            with column:
                counts.append(int(st.number_input(say(f"evaluate.sets.{name}"), 1, 20, 5, key=f"generate_{name}")))
        generation = Generation(model=model, users=counts[0], tasks=counts[1], questions=counts[2])
        draw(
            markup.muted(say("evaluate.sets.calls", n=generation.n_calls, questions=counts[0] * counts[1] * counts[2]))
        )
    if buttons.primary(say("evaluate.sets.generate"), "auto_awesome", "primary_set_generate"):
        with plain_errors(), st.spinner(say("evaluate.sets.working"), show_time=True):
            bench = session.workbench()
            title = words(generated_title(indexes[index].name, generation))
            made = bench.question_sets.generate(bench.indexes.open(index), generation, title=title)
            state.remember(experiments.SET, made)
            dialogs.close()
            st.rerun()


def _model() -> str:
    """Draw the choice between templates and, where there is one, a language model, and return it."""
    with plain_errors():
        settings = session.workbench().settings.read()
        if writers := endpoint_view.writers(settings):
            names = [BUILTIN, *map(endpoint_view.full_name, writers)]
            titles = {name: model_title(name) for name in names}
            titles[BUILTIN] = say("evaluate.sets.by_templates")
            return str(choices.selectbox(say("evaluate.sets.by"), titles, key="generate_model"))
    return BUILTIN


_HEIGHT = 380
_ROW = "question"


def show() -> None:
    """Draw the list of sets on the left, the chosen one beside it, and above them the ways to get a new one."""
    infos = session.workbench().question_sets.all()
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key="set_actions"):
        upload()
        write()
        generate()
    if not infos:
        draw(html('<div class="lr-empty">{}</div>', say("evaluate.sets.none")))
        return
    by_id = {info.id: info for info in infos}
    wanted = state.recall(experiments.SET)
    if wanted and wanted not in by_id:
        message(say("evaluate.sets.gone", set=wanted), kind="error")
    chosen = by_id.get(wanted, infos[0])
    _pick(infos, chosen)
    left, right = st.columns([2, 9], gap="medium")
    with left, st.container(key="evaluate_list_column", gap="xsmall"):
        figure_view.title(say("evaluate.tab.sets"))
        origins = {info.id: say(f"evaluate.sets.origin.{info.origin}") for info in infos}
        rows = {each.id: (each.title, say("evaluate.sets.facts", n=each.n, origin=origins[each.id])) for each in infos}
        experiments.rows_to_choose(rows, chosen.id, choose, key="set")
    with right, plain_errors():
        _details(chosen)


def choose(set_id: str) -> None:
    """Show that set. For callbacks."""
    state.remember(experiments.SET, set_id)
    state.forget(_ROW)


def _pick(infos: Sequence[QuestionSetInfo], chosen: QuestionSetInfo) -> None:
    titles = {info.id: info.title for info in infos}
    with st.container(key="evaluate_pick"):
        choices.dropdown(experiments.SET, say("evaluate.sets.set"), titles, default=chosen.id)


def kinds(info: QuestionSetInfo) -> str:
    """Return in words how many questions of each kind there are."""
    parts = [
        f"{measure_words.kind_title(kind) if kind else say('evaluate.sets.no_kind')} {n:,}"
        for kind, n in info.kinds.items()
    ]
    return say("ask.comma").join(parts)


def _about(about: Mapping[str, str | int]) -> str:
    """Return in words how a set was generated."""
    index = str(about.get("index", ""))
    title = next((each.title for each in session.index_list().indexes if each.id == index), index)
    if about.get("model") == BUILTIN:
        return say("evaluate.sets.about_templates", index=title, n=about.get("n", 0), seed=str(about.get("seed", 0)))
    counts = {name: about.get(name, 0) for name in ("users", "tasks", "questions")}
    model = model_title(str(about.get("model", "")))
    made = say("evaluate.sets.about_model", index=title, model=model, **counts)
    lost = about.get("lost", 0)
    return joined_sentences([made, say("evaluate.sets.about_lost", n=lost) if lost else ""])


def _details(info: QuestionSetInfo) -> None:
    """Draw the content of the set, and what can be done with it."""
    bench = session.workbench()
    questions = bench.question_sets.questions(info.id)
    figure_view.title(info.title, say("evaluate.sets.gold", n=info.n, evidence=info.n_evidence, answers=info.n_answers))
    draw(markup.muted(kinds(info)))
    if info.about:
        draw(markup.muted(_about(info.about)))
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        title, mime = say("evaluate.sets.download"), "application/jsonl"
        downloads.button(title, bench.question_sets.content(info.id), f"{info.id}.jsonl", mime, key="set_download")
        if not info.is_shipped:
            means = say("evaluate.sets.delete_hint")
            label = say("evaluate.sets.delete")
            deletion.button(
                "set_delete", label, say("evaluate.sets.delete_title"), info.title, means, partial(_delete, info.id)
            )
    _table(info.id, questions)


def _table(set_id: str, questions: Sequence[GoldQuestion]) -> None:
    """Draw the questions; a clicked row is shown in full below."""
    key = f"set_table_{set_id}"  # a row that is framed in one set is not framed in the next
    head = {name: say(f"evaluate.sets.head.{name}") for name in ("question", "kind", "answer", "evidence")}
    table = pd.DataFrame(
        {
            head["question"]: [each.question for each in questions],
            head["kind"]: [measure_words.kind_title(each.kind) for each in questions],
            head["answer"]: [each.answer or " | ".join(each.answers) for each in questions],
            head["evidence"]: [len(each.evidence) for each in questions],
        }
    )

    forms.clickable_table(
        table,
        lambda row: state.remember(_ROW, questions[row].id),
        key=key,
        height=forms.table_height(len(questions), _HEIGHT),
        placeholder="–",
        column_config={
            head["question"]: st.column_config.TextColumn(width=420),
            head["kind"]: st.column_config.TextColumn(width=100),
            head["answer"]: st.column_config.TextColumn(width=260),
            head["evidence"]: st.column_config.NumberColumn(width=80, format="localized"),
        },
    )
    chosen = next((each for each in questions if each.id == state.recall(_ROW)), None)
    if chosen is None:
        draw(markup.muted(say("evaluate.sets.click")))
    else:
        gold(chosen)


def gold(question: GoldQuestion) -> None:
    """Draw a question with its gold answer and evidence."""
    draw(html('<div class="lr-read" dir="auto"><b>{}</b></div>', question.question))
    answer = question.answer or say("ask.comma").join(question.answers)
    draw(html('<div class="lr-read" dir="auto">{}</div>', answer or say("evaluate.sets.no_answer")))
    for piece in question.evidence:
        template = '<div class="lr-gpass"><b>{}</b><div class="lr-read" dir="auto">{}</div></div>'
        draw(html(template, piece.document, piece.quote or say("evaluate.sets.any_passage")))


def _delete(set_id: str) -> None:
    session.workbench().question_sets.delete(set_id)
    state.forget(experiments.SET)
