"""Options that several verbs take, and what they name: configuration, question, documents, question set."""

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import Field, fields, replace
from pathlib import Path
from typing import Any, TypeAlias

from leanrag_core.commands._printing import PrintedProgress
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.extensions import BrokenExtension
from leanrag_core.indexing.parsing import ParsedUpload
from leanrag_core.indexing.parsing.confined import ConfinedParser
from leanrag_core.indexing.parsing.limits import parse_limits
from leanrag_core.indexing.reading import read_files
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import Message
from leanrag_core.retrieval.base import strategies
from leanrag_core.retrieval.settings import parsed_option
from leanrag_core.types.calls import Budget
from leanrag_core.types.config import ONE_VALUE, IndexConfig, file_model, help_of, is_file, preset, presets
from leanrag_core.types.scope import Scope
from leanrag_core.types.settings import Execution
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.models import RunContext
from leanrag_core.workbench.samples import documents_of

Verbs: TypeAlias = "argparse._SubParsersAction[argparse.ArgumentParser]"
AUTO = "auto"  # of --top-n
MODELS = ("model", "aggregation_model")  # fields of IndexConfig that may name a model file


def index_verb(verbs: Verbs, name: str, about: str) -> argparse.ArgumentParser:
    """Add a verb that begins with the folder of an index."""
    parser = verbs.add_parser(name, help=about)
    parser.add_argument("index", type=Path, metavar="DIR")
    return parser


def set_run(parser: argparse.ArgumentParser, run: Callable[[argparse.Namespace], int | None]) -> None:
    """End the options of a verb with --json. run: does the work; returns the exit code, None for 0."""
    parser.add_argument("--json", action="store_true", help="a machine-readable result on stdout")
    parser.set_defaults(run=run)


def add_budget(parser: argparse.ArgumentParser, about: str) -> None:
    """Add the options --budget and --budget-tokens."""
    parser.add_argument("--budget", type=float, default=0.0, metavar="DOLLARS", help=about)
    parser.add_argument("--budget-tokens", type=int, default=0, metavar="TOKENS", help="the same, counted in tokens")


def add_config(parser: argparse.ArgumentParser) -> None:
    """Add an option for every field of IndexConfig that fits into one; those that are not given come from the
    preset."""
    add_preset(parser, "how the index is built")
    for spec in fields(IndexConfig):
        if spec.name not in ONE_VALUE:
            continue
        kind: dict[str, Any] = {
            "type": int if isinstance(spec.default, int) else model_name if spec.name in MODELS else str
        }
        if isinstance(spec.default, bool):
            kind = {"action": argparse.BooleanOptionalAction}
        text = f"{help_text(spec)} (default: {spec.default})"
        parser.add_argument(f"--{spec.name.replace('_', '-')}", default=argparse.SUPPRESS, help=text, **kind)


def model_name(text: str) -> str:
    """Return the name of the model that a command names. file:PATH chooses the model file at that path, which is known
    by its name from then on; file:NAME is one of the models folder."""
    path = text.partition(":")[2]
    if not is_file(text) or not (set("/\\") & set(path) or Path(path).is_file()):
        return text

    try:
        return file_model(Workbench.default().model_files.add(path).name)
    except LeanRAGError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def help_text(spec: "Field[Any]") -> str:
    """Return the help of an option's field in English, as argparse takes it."""
    text = help_of(spec)
    return (sentence(text) if isinstance(text, Message) else text).replace("%", "%%")


def config_of(options: argparse.Namespace) -> IndexConfig:
    """Return the configuration of the options of add_config(). Raises InvalidConfig."""
    config_values = {name: getattr(options, name) for name in ONE_VALUE if hasattr(options, name)}
    return preset(options.preset).config(**config_values)


def add_top(parser: argparse.ArgumentParser) -> None:
    """Add the options --top-n and --top-c."""
    parser.add_argument(
        "--top-n", type=_top_n, default=None, metavar="N", help="seeds; auto raises N until C is filled"
    )
    parser.add_argument("--top-c", type=int, default=None)


def _top_n(text: str) -> int | str:
    try:
        return AUTO if text == AUTO else int(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{text!r} is neither a whole number nor {AUTO}") from error


def top_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategy's options that --top-n and --top-c stand for."""
    chosen: dict[str, Any] = {"adaptive_n": True} if options.top_n == AUTO else {}
    top_values = {name: getattr(options, name) for name in ("top_n", "top_c")}
    return chosen | {name: value for name, value in top_values.items() if value not in (None, AUTO)}


def add_preset(parser: argparse.ArgumentParser, what: str) -> None:
    """Add the option --preset. what: which settings it decides."""
    names = [each.name for each in presets()]
    parser.add_argument("--preset", choices=names, default=names[0], help=f"{what}; other options override it")


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


def run_context(
    options: argparse.Namespace, bench: Workbench, index: str, needed_by: IndexConfig | None = None
) -> RunContext:
    """Return what work within a budget runs with; its progress is printed. index, needed_by: see ModelAccess.make().
    Raises InvalidConfig."""
    budget = Budget(options.budget, options.budget_tokens, vars(options).get("budget_calls", 0))
    models = bench.models.make(budget=budget, index=index, needed_by=needed_by)
    return bench.models.context(models, execution_of(options, models.settings.execution), PrintedProgress())


def add_asked(parser: argparse.ArgumentParser) -> None:
    """Add the index, the question, and the options of how it is asked."""
    parser.add_argument("index", type=Path, metavar="DIR")
    parser.add_argument("question")
    parser.add_argument("--strategy", default="leanrag")
    add_preset(parser, "top-N, top-C and the token budgets")
    add_top(parser)
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy")


def add_scope(parser: argparse.ArgumentParser) -> None:
    """Add options of which documents are asked."""
    scope = parser.add_argument_group("documents that are asked (all by default)")
    scope.add_argument("--in", action="append", default=[], dest="folders", metavar="FOLDER", help="those below it")
    scope.add_argument("--document", action="append", default=[], metavar="NAME", help="this one; its name or id")
    scope.add_argument("--tag", action="append", default=[], help="those with the tag; several: with any of them")
    scope.add_argument("--from", default="", dest="since", metavar="DATE", help="those not before YYYY[-MM[-DD]]")
    scope.add_argument("--to", default="", dest="until", metavar="DATE", help="those not after it")
    scope.add_argument(
        "--as-of",
        default="",
        metavar="DATE",
        help="leave out what texts date otherwise: relations and sentences that were not valid on YYYY[-MM[-DD]]",
    )


def scope_of(options: argparse.Namespace) -> Scope:
    """Return the scope of the options of add_scope(). Raises InvalidConfig for an invalid date."""
    listed = (tuple(options.document), tuple(options.folders), tuple(options.tag))
    return Scope(*listed, since=options.since, until=options.until, as_of=options.as_of)


def print_broken(files: Sequence[BrokenExtension]) -> None:
    """Print on stderr why files of an extension folder hold no extension."""
    for file in files:
        print(f"note: {visible(sentence(file.message))}", file=sys.stderr)


def asked_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the strategy's options that were given. Raises InvalidConfig for one without a value."""
    chosen: dict[str, Any] = {}
    listed = strategies()
    print_broken(listed.broken)
    known = next((each.config for each in listed.strategies if each.name == options.strategy), None)
    if known is not None:  # another strategy takes those of its options that the preset speaks of
        chosen |= {name: value for name, value in preset(options.preset).ask.items() if hasattr(known, name)}
    return chosen | option_values(options.option) | top_options(options)


def option_values(pairs: Sequence[str]) -> dict[str, Any]:
    """Return the values of options that are written as NAME=VALUE. Raises InvalidConfig for one without a value."""
    values: dict[str, Any] = {}
    for pair in pairs:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InvalidConfig("command.option_without_value", option=pair)
        values[name.replace("-", "_")] = parsed_option(value)
    return values


_LIMITS = ("parse_seconds", "parse_memory_mb")


def add_sources(parser: argparse.ArgumentParser, *, needed: bool = True) -> None:
    """Add options of which files are read, and what that may take; the settings say it where the command does not."""
    parser.add_argument("paths", nargs="+" if needed else "*", type=Path, metavar="PATH")
    parser.add_argument("--follow-links", action="store_true", help="read what links point to outside of the folders")
    parser.add_argument("--parse-seconds", type=float, metavar="S", help="longest time to read one file (usual: 60)")
    parser.add_argument("--parse-memory-mb", type=int, metavar="MB", help="most memory to read one file (usual: 1500)")


def read_sources(options: argparse.Namespace, bench: Workbench) -> ParsedUpload:
    """Return the documents of the command's paths; prints what was skipped. Raises InvalidConfig."""
    for path in options.paths:
        if not os.path.lexists(path):
            raise InvalidConfig("command.no_source", path=str(path))
    paths = [documents_of(path) for path in options.paths]
    chosen = {name: value for name in _LIMITS if (value := getattr(options, name)) is not None}
    parser = ConfinedParser(parse_limits(replace(bench.settings.read(), **chosen)))
    parsed = read_files(paths, parser, follow_links=options.follow_links)
    for refusal in parsed.refusals:
        print(f"{refusal.name}: {sentence(refusal.reason)}", file=sys.stderr)
    return parsed


def question_set_of(name_or_path: str, bench: Workbench) -> str:
    """Return the id of the set; a file is stored as one first. Raises InvalidConfig for a file that does not read."""
    path = Path(name_or_path)
    return bench.question_sets.add_file(path.name, path.read_bytes()) if path.is_file() else name_or_path
