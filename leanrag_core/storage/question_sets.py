"""Question sets on disk: a JSONL file and a card of each, named by a hash and never by a user's file name."""

import hashlib
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from leanrag_core.errors import InvalidConfig, QuestionSetNotFound, RecordDamaged
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json, to_json
from leanrag_core.messages.message import message
from leanrag_core.types.question_set import QuestionSetInfo

MAX_TITLE = 200
_ID = re.compile(r"[0-9a-f]{16}")
_CARD_BYTES = 100_000


class QuestionSetStore:
    """Reads and writes question sets below one folder: ID.jsonl with the questions, ID.json with the card."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, content: bytes, card: QuestionSetInfo) -> str:
        """Store the questions; returns the set's id, which follows from its title and content: the same set is stored
        once. Raises InvalidConfig for a title that is empty or too long, StorageFailed."""
        title = " ".join(card.title.split())
        if not title or len(title) > MAX_TITLE:
            raise InvalidConfig("question_set.title", limit=MAX_TITLE)
        id_ = hashlib.sha256(title.encode() + b"\0" + content).hexdigest()[:16]
        with writing(message("what.question_set", title=title)):
            self.root.mkdir(parents=True, exist_ok=True)
            write_bytes(self._path(id_, "json"), to_json(replace(card, id=id_, title=title), indent=1))
            write_bytes(self._path(id_, "jsonl"), content)
        return id_

    def all(self) -> tuple[QuestionSetInfo, ...]:
        """Return the cards by title; one that does not read is passed over."""
        cards = []
        for path in sorted(self.root.glob("*.jsonl")):
            with suppress(QuestionSetNotFound):
                cards.append(self.card(path.stem))
        return tuple(sorted(cards, key=lambda card: (card.title.casefold(), card.id)))

    def card(self, id_: str) -> QuestionSetInfo:
        """Return the card of the set. Raises QuestionSetNotFound, also for one that does not read."""
        try:
            card = from_json(QuestionSetInfo, self._path(id_, "json").read_bytes(), max_bytes=_CARD_BYTES)
        except (OSError, RecordDamaged) as error:
            raise QuestionSetNotFound("question_set.not_found", id=id_) from error
        return replace(card, id=id_)

    def content(self, id_: str) -> bytes:
        """Return the set's JSONL file. Raises QuestionSetNotFound."""
        try:
            return self._path(id_, "jsonl").read_bytes()
        except OSError as error:
            raise QuestionSetNotFound("question_set.not_found", id=id_) from error

    def delete(self, id_: str) -> None:
        """Delete the set. Raises QuestionSetNotFound."""
        self.content(id_)
        for kind in ("jsonl", "json"):
            self._path(id_, kind).unlink(missing_ok=True)

    def _path(self, id_: str, kind: str) -> Path:
        """Raise QuestionSetNotFound for an id that could leave the folder."""
        if not _ID.fullmatch(id_):
            raise QuestionSetNotFound("question_set.not_found", id=id_)
        return self.root / f"{id_}.{kind}"
