"""Which judgements are audited: those of an experiment, or files that a person has added."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from operator import attrgetter
from typing import Any

import streamlit as st

from leanrag_core.errors import LeanRAGError
from leanrag_core.evaluation.audit.files import JudgeFile, read_answers, read_judge_files, system_of
from leanrag_core.evaluation.audit.judges import audit
from leanrag_core.evaluation.audit.records import Audit
from leanrag_core.evaluation.run_titles import titled
from leanrag_core.messages.message import Message
from leanrag_core.types.experiment import ExperimentSummary, Judgement
from pages.common import choices, markup, run_titles, state, uploads
from pages.common.html import draw
from pages.common.messages import message, say
from pages.evaluate import experiments

NAME, FILES = "audit", "files"
_MOST_MEGABYTES = 50
_READ, _ERROR = "lr_judge_files", "lr_judge_files_error"
_FIELD, _ANSWERS = "judge_files", "judge_answers"


@dataclass(frozen=True)
class Source:
    """Judgements and where they come from. stamp: changes whenever the judgements change. notes: what the files leave
    open. questions: the words of each question, by its id, where they are known."""

    title: str
    stamp: str
    judgements: tuple[Judgement, ...]
    notes: tuple[Message, ...] = ()
    questions: Mapping[str, str] = field(default_factory=dict)


def chosen(summaries: Sequence[ExperimentSummary]) -> Source | None:
    """Draw the choice of judgements and return it: the link's, else the files added last, else the first
    experiment's."""
    judged = {each.id: each for each in summaries if each.judgements}
    files: Source | None = st.session_state.get(_READ)
    titles = {FILES: files.title} if files is not None else {}
    titles |= {id_: each.title for id_, each in judged.items()}
    if not titles:
        return None
    ids = list(titles)
    if len(ids) == 1:
        id_ = ids[0]
    else:
        id_ = choices.dropdown(
            NAME, say("evaluate.audit.source"), titles, forgets=("judge", "pair", "criterion"), width=320
        )
    if id_ == FILES and files is not None:
        return files
    result = experiments.opened(judged[id_])
    texts = {question.id: question.question for question in experiments.questions_of(id_)}
    titles = run_titles.titles(result.spec.runs)
    stamp = f"{id_} {judged[id_].changed} {' '.join(titles.values())}"
    return Source(judged[id_].title, stamp, titled(result.judgements, titles), questions=texts)


@st.cache_resource(show_spinner=False, max_entries=8, hash_funcs={Source: attrgetter("stamp")})
def audit_of(source: Source) -> Audit:
    """Return the audit of the judgements, computed once."""
    return audit(source.judgements)


def of_judge(audit: Audit, judge: str) -> Audit:
    """Return the audit of one judge alone; the agreement between judges stays complete."""
    return replace(
        audit,
        judges=tuple(each for each in audit.judges if each.judge == judge),
        pairs=tuple(each for each in audit.pairs if each.judge == judge),
        first_answer=tuple(each for each in audit.first_answer if each.judge == judge),
        length=tuple(each for each in audit.length if each.judge == judge),
        scores=tuple(each for each in audit.scores if each.judge == judge),
        flips=tuple(each for each in audit.flips if each.judge == judge),
    )


def upload() -> None:
    """Draw the upload of files of judgements, and of the answers that were judged."""
    with st.popover(say("evaluate.audit.upload"), icon=":material/upload:", type="tertiary", key="audit_upload"):
        for key, hint, label, types in (
            (_FIELD, "evaluate.audit.upload_hint", "evaluate.audit.files", ["jsonl", "json", "csv"]),
            (_ANSWERS, "evaluate.audit.answers_hint", "evaluate.audit.answers", ["jsonl", "json"]),
        ):
            draw(markup.muted(say(hint)))
            look: dict[str, Any] = {"type": types, "accept_multiple_files": True, "on_change": _read}
            uploads.field(say(label), key, megabytes=_MOST_MEGABYTES, **look)
        error = st.session_state.get(_ERROR)
        if error is not None:
            message(error, kind="error", title=say("evaluate.audit.not_read"))


def _read() -> None:
    """Read the files as soon as they are there; where one cannot be read, keep its error and the files read before."""
    files = [JudgeFile(file.name, file.getvalue()) for file in st.session_state.get(_FIELD) or ()]
    answers = [JudgeFile(file.name, file.getvalue()) for file in st.session_state.get(_ANSWERS) or ()]
    st.session_state[_ERROR] = None
    if not files:
        st.session_state[_READ] = None
        return
    try:
        read = read_judge_files(files, {system_of(file.name): read_answers(file) for file in answers})
    except LeanRAGError as error:
        st.session_state[_ERROR] = error
        return
    stamp = str(hash(tuple((file.name, file.content) for file in (*files, *answers))))
    st.session_state[_READ] = Source(say("evaluate.audit.of_files", n=len(files)), stamp, read.judgements, read.notes)
    state.forget("judge", "pair", "criterion", NAME)
