"""Calls that are sent in files to a batch endpoint: what was sent, where it is, and how much of it is answered."""

from dataclasses import dataclass

from leanrag_core.files.records import absent_at_default

PRICE_SHARE = 0.5  # of the price of a direct call, at every provider that takes batches
ROUND_SECONDS = 86_400.0  # within which a provider answers a batch, or ends it as expired


@dataclass(frozen=True)
class SentCall:
    """A call of a batch. key: of its reply in the store of calls. task: fingerprint of its prompt. as_json: whether the
    reply was asked for as JSON."""

    key: str
    task: str
    as_json: bool

    @property
    def custom_id(self) -> str:
        """Its name in the files, which providers limit to 64 characters."""
        return self.key[:32]


@dataclass(frozen=True)
class SentBatch:
    """A batch that was sent.

    id: of the record. address, model: where, and to which model. index: for which the calls are made. file_id: of the
    file at the provider; batch_id: of the batch, empty while it is not known whether the provider has made it. at:
    seconds since 1970. cancelled: its cancellation was asked for. collected: its replies are on this disk.
    """

    id: str
    address: str
    model: str
    index: str
    calls: tuple[SentCall, ...]
    file_id: str
    at: float
    batch_id: str = ""
    cancelled: bool = False
    collected: bool = False


@dataclass(frozen=True)
class BatchProgress:
    """How far the batches are that a job waits for. calls: of all of them; answered: so far, errors among them. since:
    when the first one was sent, seconds since 1970."""

    batches: int
    calls: int
    answered: int
    since: float
    cancelled: bool = absent_at_default(False)
