"""A kind of job that this version does not have."""

from leanrag_core.messages.message import Message, message
from leanrag_core.types.job import Figure, JobKind, Stage, SummaryLine


def text(words: str) -> Message:
    return message("plain", text=words)


SURVEY = JobKind(
    "survey",
    stages=(
        Stage("settings", text("Settings"), text("Choosing settings"), 0.1),
        Stage("answers", text("Answers"), text("Answering questions"), 0.9, writes=text("answered")),
    ),
    figures=(Figure(text("Questions"), "done", (("answers", None),)),),
    summary=(SummaryLine("answers", text("Answers given")), SummaryLine("bytes", text("Size"), "bytes")),
)
