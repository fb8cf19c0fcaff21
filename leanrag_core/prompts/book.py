"""The prompts of one index: the catalog's, or its own where they were edited."""

from collections.abc import Iterable

from leanrag_core.errors import InvalidConfig
from leanrag_core.prompts.catalog import Prompt, load_prompt, tasks

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
