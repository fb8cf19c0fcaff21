"""Options that several verbs take: the index's configuration, a preset, the execution."""

import argparse
from dataclasses import fields, replace
from typing import Any

from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.types.config import ONE_VALUE, IndexConfig, preset, presets
from leanrag_core.types.settings import Execution

AUTO = "auto"  # of --top-n


def add_json(parser: argparse.ArgumentParser) -> None:
    """Add the option --json."""
    parser.add_argument("--json", action="store_true", help="a machine-readable result on stdout")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add an option for every field of IndexConfig that fits into one; those that are not given come from the
    preset."""
    add_preset(parser, "how the index is built")
    for spec in fields(IndexConfig):
        if spec.name not in ONE_VALUE:
            continue
        kind: dict[str, Any] = {"type": int if isinstance(spec.default, int) else str}
        if isinstance(spec.default, bool):
            kind = {"action": argparse.BooleanOptionalAction}
        text = f"{_in_english(spec.metadata['help'])} (default: {spec.default})".replace("%", "%%")
        parser.add_argument(f"--{spec.name.replace('_', '-')}", default=argparse.SUPPRESS, help=text, **kind)


def _in_english(text: str | Message) -> str:
    return sentence(text) if isinstance(text, Message) else text


def config_of(options: argparse.Namespace) -> IndexConfig:
    """Return the configuration of the options of add_config(). Raises InvalidConfig."""
    given = {name: getattr(options, name) for name in ONE_VALUE if hasattr(options, name)}
    return preset(options.preset).config(**given)


def add_top(parser: argparse.ArgumentParser) -> None:
    """Add the options --top-n and --top-c."""
    parser.add_argument(
        "--top-n", type=_top_n, default=None, metavar="N", help="seeds; auto raises N until C is filled"
    )
    parser.add_argument("--top-c", type=int, default=None)


def _top_n(text: str) -> int | str:
    return AUTO if text == AUTO else int(text)


def top_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategy's options that --top-n and --top-c stand for."""
    chosen: dict[str, Any] = {"adaptive_n": True} if options.top_n == AUTO else {}
    given = {name: getattr(options, name) for name in ("top_n", "top_c")}
    return chosen | {name: value for name, value in given.items() if value not in (None, AUTO)}


def add_preset(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option --preset. what: which settings it decides."""
    names = [each.name for each in presets()]
    parser.add_argument("--preset", choices=names, default=names[0], help=f"{what}; other options go before it")


def add_execution(parser: argparse.ArgumentParser) -> None:
    """Add options of the execution; the settings decide where the command does not."""
    kinds = ("threads", "processes", "dask")
    parser.add_argument("--execution", choices=kinds, help="who reads, embeds and clusters; the index is the same")
    parser.add_argument("--workers", type=int, metavar="N", help="threads or processes (default: one a core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://10.0.0.1:8786")


def execution_of(options: argparse.Namespace, settings: Execution) -> Execution:
    """Return the settings' choice, or the command's where it makes one. Raises InvalidConfig."""
    if options.execution is None and options.scheduler is None:
        return settings if options.workers is None else replace(settings, workers=options.workers)
    kind = options.execution or "dask"  # a scheduler alone means Dask
    scheduler = options.scheduler or (settings.scheduler if kind == "dask" else "")
    return Execution(kind, options.workers or 0, scheduler)
