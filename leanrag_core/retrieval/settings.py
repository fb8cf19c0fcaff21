"""The settings of a strategy: the official ones, all of a run's, and those that stand beside its name, in words.

Official are the defaults of a strategy's own Config: pages, commands and Python use them unless they name another
value.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import Field, fields
from functools import reduce
from typing import Any

from leanrag_core.files.records import may_be_absent
from leanrag_core.messages.catalog import codes
from leanrag_core.messages.message import Message, message
from leanrag_core.retrieval.base import MAX_TOKENS, RERANK, TOP_C, StrategyInfo, strategies
from leanrag_core.types.config import CHUNKS, CONTEXT, SEEDS
from leanrag_core.types.trace import Parameter

_PLAIN = re.compile(r"[\w.-]+")  # texts that need no quotes


def official_settings(info: StrategyInfo) -> dict[str, Parameter]:
    """Return every option of the strategy with its official value, in the order of its Config, as records have them:
    an option that is absent at its default is not among them."""
    defaults: Mapping[str, Any] = {spec.name: spec.default for spec in fields(info.config) if not may_be_absent(spec)}
    return dict(defaults)


def _without_absent(info: StrategyInfo, options: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return the options without those that records leave out at the value that they have."""
    absent = {spec.name: spec.default for spec in fields(info.config) if may_be_absent(spec)}
    return {name: value for name, value in options.items() if name not in absent or value != absent[name]}


def own_settings(info: StrategyInfo, options: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return those of the options that are not official."""
    official = official_settings(info)
    recorded = _without_absent(info, options)
    return {name: value for name, value in recorded.items() if name not in official or value != official[name]}


def all_settings(info: StrategyInfo, options: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return every option of a run with these options; those that are not named have their official value."""
    return official_settings(info) | _without_absent(info, options)


def shown_settings(info: StrategyInfo | None, options: Mapping[str, Parameter]) -> dict[str, Parameter]:
    """Return those of the options that stand beside the strategy's name: what the row of its controls has, the token
    budget, and what is not official. A switch that is off by default and off is left out. info: None for a strategy
    that is not among the program's, of which all options are shown."""
    if info is None:
        return dict(options)
    shown = {}
    for spec in fields(info.config):
        if spec.name not in options or (options[spec.name] is False and spec.default is False):
            continue
        value = options[spec.name]
        if spec.metadata.get("in_row") or spec.name in (TOP_C, MAX_TOKENS) or value != spec.default:
            shown[spec.name] = value
    return shown


def settings_line(settings: Mapping[str, Parameter]) -> Message:
    """Return settings in words, such as "Top-C chunks 20, at most 12,000 tokens"; an empty sentence where there are
    none."""
    return setting_list([_setting(name, value) for name, value in settings.items()])


def setting_list(settings: Sequence[Message]) -> Message:
    """Return the settings in one line; an empty sentence where there are none."""
    listed = settings or [message("plain", text="")]
    return reduce(lambda first, rest: message("setting.list", first=first, rest=rest), listed)


def settings_words(strategy: str, options: Mapping[str, Parameter]) -> Message:
    """Return what stands beside the name of a strategy that was run with these options, which may be another
    program's."""
    info = next((info for info in strategies().strategies if info.name == strategy), None)
    return settings_line(shown_settings(info, options))


def option_title(name: str, *, of_index: bool = False) -> Message:
    """Return the title on screen of an option. of_index: of the configuration of an index, not of a strategy."""
    code = f"option.title.{name}"
    if name == "chunk_tokens" and not of_index:
        code = "option.title.chunk_budget"
    return message(code) if code in codes() else message("plain", text=name.replace("_", " ").capitalize())


def step_of(spec: Field[Any]) -> str:
    """Return the step of a retrieval on which an option acts: the declared one, else chunks or context for the options
    of all strategies, else the search with which every retrieval begins."""
    declared: str = spec.metadata.get("step") or ""
    if declared or spec.name == TOP_C:
        return declared or CHUNKS
    return CONTEXT if spec.name.endswith("_tokens") else SEEDS


def choice_title(name: str, choice: object) -> Message:
    """Return a choice of that option as it is shown; a choice without a title by its value."""
    code = f"option.choice.{name}.{choice}"
    return message(code) if code in codes() else message("plain", text=str(choice))


def option_value(name: str, value: object) -> Message:
    """Return the value of that option in words."""
    if isinstance(value, bool):
        return message("ask.on" if value else "ask.off")
    if value is None or value == "":
        return message("ask.none")
    return message("plain", text=f"{value:,}") if isinstance(value, int | float) else choice_title(name, value)


def _setting(name: str, value: Parameter) -> Message:
    if name == MAX_TOKENS:
        return message("setting.max_tokens", tokens=value)
    if name == RERANK:
        return message("setting.rerank", n=value)
    title = option_title(name)
    if isinstance(value, bool):
        return title if value else message("setting.without", option=title)
    return message("setting.value", option=title, value=option_value(name, value))


def option_text(value: Parameter) -> str:
    """Return the value as a command line has it; parsed_option() reads it back, also where others stand beside it,
    separated by commas or followed by @."""
    if isinstance(value, str) and _PLAIN.fullmatch(value) and parsed_option(value) == value:
        return value
    return json.dumps(value).replace(",", r"\u002c").replace("@", r"\u0040")


def parsed_option(text: str) -> Any:
    """Return the value of an option that a person wrote: JSON, True or False in any case, else the text itself."""
    for written in (text, text.lower()):
        try:
            return json.loads(written, parse_constant=_refuse)
        except ValueError:
            continue
    return text


def _refuse(constant: str) -> None:
    raise ValueError(constant)
