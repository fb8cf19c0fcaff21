"""How fast the models of this machine's endpoints have been: measured at every call, kept for each address and model.

A token that is read counts as an eighth of one that is written: reading a prompt is several times as quick as writing.
"""

import contextlib
import threading
import time
from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from pathlib import Path

from filelock import FileLock, Timeout

from leanrag_core.errors import LeanRAGError
from leanrag_core.files import private
from leanrag_core.files.atomic import write_bytes
from leanrag_core.files.records import from_json, to_json

_READ_SHARE = 0.125  # of the work of a written token that a read one takes
_KEPT = 0.95  # of what is known so far that the next call leaves: the last twenty calls or so count
_SAVE_SECONDS = 2.0  # between two writings of the file
_FIRST_CALLS = 4  # each saved at once: the next work may begin right after the check of a model
_LOCK_SECONDS = 1.0
_MOST = 500  # addresses and models that are kept


@dataclass(frozen=True)
class Speed:
    """What calls of a model took. calls, tokens read and written, seconds: of the last ones, older ones counting less.
    in_flight: calls at one time, summed over the calls."""

    calls: float = 0.0
    read: float = 0.0
    written: float = 0.0
    seconds: float = 0.0
    in_flight: float = 0.0

    def followed_by(self, other: "Speed", n: int = 1) -> "Speed":
        """Add what n further calls took."""
        kept = _KEPT**n
        pairs = zip(astuple(self), astuple(other), strict=True)
        return Speed(*(before * kept + further for before, further in pairs))

    @property
    def tokens_per_second(self) -> float:
        """Tokens written a second by one call, reading included as an eighth a token."""
        return (self.written + _READ_SHARE * self.read) / self.seconds if self.seconds else 0.0

    @property
    def mean_in_flight(self) -> float:
        """Calls at one time while these were measured."""
        return self.in_flight / self.calls if self.calls else 1.0

    def seconds_of(self, read: float, written: float) -> float:
        """Estimate the seconds of a call that reads and writes so many tokens."""
        return (written + _READ_SHARE * read) / self.tokens_per_second if self.tokens_per_second else 0.0


@dataclass
class Speeds:
    """The speeds of all models. path: of the file that keeps them for the next work; None to forget them."""

    path: Path | None = None
    _known: dict[str, Speed] = field(default_factory=dict, init=False, repr=False)
    _unsaved: dict[str, tuple[Speed, int]] = field(default_factory=dict, init=False, repr=False)
    _read_at: float = field(default=-_SAVE_SECONDS, init=False, repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def of(self, address: str, model: str) -> Speed | None:
        """Return the speed of the model at that address; None where none of its calls was measured."""
        key = f"{address} {model}"
        with self._lock:
            if time.monotonic() - self._read_at > _SAVE_SECONDS:
                self._known, self._read_at = self._stored(), time.monotonic()
            known = self._known.get(key, Speed()).followed_by(*self._unsaved.get(key, (Speed(), 0)))
        return known if known.tokens_per_second else None

    def add(self, address: str, model: str, call: Speed) -> None:
        """Count a call that was answered."""
        key = f"{address} {model}"
        with self._lock:
            before, n = self._unsaved.get(key, (Speed(), 0))
            self._unsaved[key] = before.followed_by(call), n + 1
            is_new = self._known.get(key, Speed()).calls < _FIRST_CALLS
            if is_new or time.monotonic() - self._read_at > _SAVE_SECONDS:
                self._save()

    def _save(self) -> None:
        """Add what is not saved to the file. A speed that cannot be written is measured again by the next work."""
        with contextlib.suppress(Timeout, OSError), self._locked():
            known = self._stored()
            for key, (speed, n) in self._unsaved.items():
                known[key] = known.pop(key, Speed()).followed_by(speed, n)
            self._known, self._read_at = dict(list(known.items())[-_MOST:]), time.monotonic()
            if self.path is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                write_bytes(self.path, to_json(self._known, indent=1), private=True)
            self._unsaved.clear()

    def _locked(self) -> contextlib.AbstractContextManager[object]:
        if self.path is None:
            return contextlib.nullcontext()
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return FileLock(str(self.path.with_suffix(".lock")), timeout=_LOCK_SECONDS, mode=private.FILE)

    def _stored(self) -> dict[str, Speed]:
        """Return what the file has; a damaged one is as good as none, since every call measures again."""
        if self.path is None:
            return dict(self._known)
        try:
            stored: Mapping[str, Speed] = from_json(dict[str, Speed], self.path.read_bytes(), name=self.path.name)
        except (OSError, LeanRAGError):
            return {}
        return dict(stored)
