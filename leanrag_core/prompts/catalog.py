"""Finds prompts by task and version, and fills their fields. A changed prompt is a new version."""

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from leanrag_core.errors import InvalidConfig

_FOLDER = Path(__file__).parent
_FIELD = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A prompt text with {fields}. fingerprint goes into manifests and cache keys."""

    task: str
    version: int
    text: str

    @property
    def fingerprint(self) -> str:
        """Task, version and hash of the text."""
        return f"{self.task}.v{self.version}:{hashlib.sha256(self.text.encode()).hexdigest()[:12]}"

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that fill() needs."""
        return frozenset(_FIELD.findall(self.text))

    def fill(self, **values: object) -> str:
        """Return the text with every field replaced, in one pass: braces in a value stay as they are.

        Raises InvalidConfig for a field that is missing or unknown.
        """
        if self.fields != set(values):
            raise InvalidConfig(
                "prompt.other_fields",
                task=self.task,
                version=self.version,
                fields=", ".join(sorted(self.fields)),
                given=", ".join(sorted(values)) or "none",
            )
        return _FIELD.sub(lambda field: str(values[field[1]]), self.text)


def load_prompt(task: str, version: int | None = None) -> Prompt:
    """Return the prompt of that task, the highest version by default. Raises InvalidConfig when there is none."""
    paths = {int(path.stem.rsplit(".v", 1)[1]): path for path in _FOLDER.glob(f"{task}.v*.md")}
    chosen = max(paths, default=0) if version is None else version
    if chosen not in paths:
        raise InvalidConfig("prompt.not_found", task=task, version=chosen, tasks=", ".join(tasks()))
    return Prompt(task, chosen, paths[chosen].read_text(encoding="utf-8"))


def tasks() -> list[str]:
    """Return names of all tasks that have a prompt."""
    return sorted({path.stem.rsplit(".v", 1)[0] for path in _FOLDER.glob("*.v*.md")})


EDITED = 0  # version of a prompt that is not in the catalog


class PromptBook:
    """Prompts by task; edited: (task, text) pairs. Raises InvalidConfig for a text that lacks a field, or an unknown
    task."""

    def __init__(self, edited: Iterable[tuple[str, str]] = ()) -> None:
        self._edited: dict[str, Prompt] = {}
        for task, text in edited:
            own, catalog = Prompt(task, EDITED, text), load_prompt(task)
            lacking = catalog.fields - own.fields
            if lacking:
                raise InvalidConfig(
                    "prompt.lacks_fields", task=task, fields=", ".join(f"{{{field}}}" for field in sorted(lacking))
                )
            unknown = own.fields - catalog.fields
            if unknown:
                raise InvalidConfig(
                    "prompt.unknown_fields", task=task, fields=", ".join(f"{{{field}}}" for field in sorted(unknown))
                )
            self._edited[task] = own

    def of(self, task: str, *, short: bool = False) -> Prompt:
        """Return the prompt of that task. short: its short form, where it has one and was not edited."""
        own, name = self._edited.get(task), f"{task}_short"
        return own or load_prompt(name if short and name in tasks() else task)
