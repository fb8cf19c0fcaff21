"""Every error that the core raises on purpose: which thing, what is wrong, what to do."""

import re
from typing import Any

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message, Value

_CODE = re.compile(r"[a-z][a-z0-9_-]*(\.[a-z0-9_-]+)+")


class LeanRAGError(Exception):
    """The root of all errors that a page or the command line shows as a plain message.

    code: a code of the catalog, with its values by name, or a whole message; a text that is no code is shown as it is.
    """

    def __init__(self, code: str | Message, /, **values: Value) -> None:
        super().__init__(code)
        if isinstance(code, str):
            code = Message(code, values) if _CODE.fullmatch(code) else Message("plain", {"text": code})
        self.message = code

    def __str__(self) -> str:
        return sentence(self.message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.message, {k: v for k, v in vars(self).items() if k != "message"})


def _restored(kind: type[LeanRAGError], message: Message, fields: dict[str, Any]) -> LeanRAGError:
    """Restore the error in another process."""
    error = kind(message)
    vars(error).update(fields)
    return error


class UnreadableDocument(LeanRAGError):
    """A file could not be turned into text; the message names the file, the reason and the remedy."""


class ImportFailed(LeanRAGError):
    """A graph that was made elsewhere could not be read; the message names the file, the reason and the remedy."""


class ReferenceDamaged(LeanRAGError):
    """A reference graph cannot be used; the message says what is wrong with it."""


class EmptyCorpus(LeanRAGError):
    """There is nothing to index."""


class InvalidConfig(LeanRAGError):
    """A setting is out of its bounds or contradicts another one."""


class FolderRefused(InvalidConfig):
    """A folder that would be replaced or deleted holds something that is not ours."""


class StorageFailed(LeanRAGError):
    """Something could not be written: the disk is full or read-only, or the rights are missing."""


class TooFewEntities(LeanRAGError):
    """A layer is too small for what was asked."""


class IndexNotFound(LeanRAGError):
    """No index lies at the path."""


class SnapshotNotFound(LeanRAGError):
    """No earlier state of the index has the number, name or id."""


class IndexDamaged(LeanRAGError):
    """An index is there, but a file of it is missing or does not fit the others."""


class IndexChanged(LeanRAGError):
    """The index was changed by another process while this one waited for it."""


class IndexTooNew(LeanRAGError):
    """The index was written by a newer version of this program."""


class ModelMismatch(LeanRAGError):
    """The index was embedded with another model or dimension than the one offered."""


class ModelUnavailable(LeanRAGError):
    """A model's files are missing or the model does not load."""


class InvalidVectors(LeanRAGError):
    """A vector is zero, NaN or of another dimension."""


class SearchIndexFailed(LeanRAGError):
    """The search index of an index could not be written."""


class PartDamaged(LeanRAGError):
    """A part of an index is there, but does not read, or does not fit its index."""


class ReplyError(LeanRAGError):
    """A language model's reply does not parse into what was asked for."""


class RecordDamaged(LeanRAGError):
    """A stored record does not read. field: where in it, empty for all of it."""

    def __init__(self, code: str | Message, *, field: str = "", **values: Value) -> None:
        super().__init__(code, **values)
        self.field = field

    @property
    def reason(self) -> Value:
        """What is wrong, without the record's name."""
        return self.message.values["reason"]


class CorpusDamaged(LeanRAGError):
    """A corpus is there but its record does not read."""


class CorpusNotFound(LeanRAGError):
    """No corpus has the id."""


class QuestionSetNotFound(LeanRAGError):
    """No question set has the id."""


class JobNotFound(LeanRAGError):
    """No job has the id."""


class JobUnknown(LeanRAGError):
    """A job is there, but of a kind or with a record that this version does not understand."""


class Cancelled(LeanRAGError):
    """The work was cancelled by its owner; nothing half-finished stays behind."""


class EndpointError(LeanRAGError):
    """A model endpoint could not do what was asked. Every further call would fail as well: work stops, resumably."""


class EndpointPaused(EndpointError):
    """A provider takes no more calls for now (no credit, a limit a day): work stops as at a spent budget, and what was
    answered is kept."""


class EndpointBusy(EndpointError):
    """A call may succeed when it is made again later. retry_after: seconds that the server asked to wait.

    overloaded: the server has too much to do (429, 503), so that every call should wait.
    """

    def __init__(
        self,
        code: str | Message,
        /,
        retry_after: float | None = None,
        *,
        overloaded: bool = False,
        **values: Value,
    ) -> None:
        super().__init__(code, **values)
        self.retry_after = retry_after
        self.overloaded = overloaded or retry_after is not None


class EndpointTimeout(EndpointBusy):
    """The server did not reply in time. The same request again would hardly fare better."""


class EndpointRefusal(EndpointError):
    """The server understood the request and refuses it as it is (too long, an option it does not have).

    option: the option that it names, and its code, where it does. server_text: what it says in its own words.
    """

    def __init__(self, code: str | Message, /, option: str = "", server_text: str = "", **values: Value) -> None:
        super().__init__(code, **values)
        self.option = option
        self.server_text = server_text


class ExperimentNotFound(LeanRAGError):
    """No experiment has the id."""


class SweepNotFound(LeanRAGError):
    """No sweep has the id."""


class RunNotFound(LeanRAGError):
    """There is no recorded run in the file."""


class RunTooNew(LeanRAGError):
    """A recorded run was written by a newer version of this program."""


class PresentationNotFound(LeanRAGError):
    """There is no presentation of that id, or in the file."""


class PresentationChanged(LeanRAGError):
    """A presentation was changed elsewhere since it was opened for editing."""


class PresentationTooNew(LeanRAGError):
    """A presentation was written by a newer version of this program."""


class StrategyFailed(LeanRAGError):
    """The code of a retrieval strategy raised what nobody expects; the message names strategy, file and line."""


class PartMissing(LeanRAGError):
    """An index lacks a part that a strategy needs."""


class BudgetSpent(LeanRAGError):
    """The budget that a build may spend is used up; everything that was answered is kept."""


class CallFailed(ReplyError):
    """One call got no usable answer after every retry; other calls may well succeed."""


class PromptTooLong(CallFailed):
    """A prompt does not fit the model's window, or leaves no room for a reply; it was not sent, or was refused."""


class ReplyCut(ReplyError):
    """A reply ended at the token limit, in the middle of what it had to say."""


class ClusterUnavailable(LeanRAGError):
    """No scheduler answers, or it has no workers."""


class WorkersLost(LeanRAGError):
    """Workers or their scheduler were lost in the middle of work; finished batches are kept, so it can be resumed."""
