"""A language model that replies by a function of the prompt, and keeps the prompts."""

from collections.abc import Callable

from leanrag_core.models.base import Completion
from leanrag_core.models.pacing import Meter
from leanrag_core.types.calls import Usage


class ScriptedLanguage:
    """Each call costs ten tokens and two; the budget of the meter holds."""

    name = fingerprint = "scripted"

    def __init__(self, reply: Callable[[str], str], meter: Meter | None = None) -> None:
        self.reply, self.meter, self.prompts = reply, meter or Meter(), list[str]()

    def complete(self, messages: list[dict[str, str]], **options: object) -> Completion:
        self.meter.require_budget()
        self.prompts.append(messages[0]["content"])
        usage = Usage(calls=1, prompt_tokens=10, completion_tokens=2)
        self.meter.add(str(options.get("task", "")), usage)
        return Completion(self.reply(messages[0]["content"]), "stop", usage)
