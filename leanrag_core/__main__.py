"""The command line. Results on stdout, logs on stderr; exit code 0, 2 for wrong usage, 1 for a failure."""

import argparse
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from leanrag_core.command_sources import add_sources, read_sources
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures.numbers import counted
from leanrag_core.jobs.stopping import Stop
from leanrag_core.plain_words import in_words
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.execution import Execution
from leanrag_core.types.presets import preset, presets
from leanrag_core.types.progress import Progress
from leanrag_core.types.visible import visible

_NICENESS = 10  # the pages and an answer go before a build


def main(arguments: Sequence[str] | None = None, stop: Stop | None = None) -> int:
    """Run one verb; returns the exit code. stop: waits for signals; jobs of the app have their own way."""
    options = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], int] = options.run
    options.stop = stop = stop or Stop()
    try:
        return run(options)
    except KeyboardInterrupt:
        stop.say()
        return stop.exit_code
    except InvalidConfig as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 2
    except LeanRAGError as error:
        print(f"leanrag: {error}", file=sys.stderr)
        return 1
    except OSError as error:
        print(f"leanrag: the system refused: {in_words(error)}", file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m leanrag_core", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="VERB")

    build = verbs.add_parser("build", help="documents or folders to an index")
    add_sources(build)
    build.add_argument("--out", required=True, type=Path, metavar="DIR")
    build.add_argument("--name", default="", help="name of the index (default: the first path's name)")
    build.add_argument("--resume", action="store_true", help="keep a finished index of the same settings")
    build.add_argument(
        "--budget", type=float, default=0.0, metavar="DOLLARS", help="stop, to be resumed, when it is spent"
    )
    build.add_argument("--budget-tokens", type=int, default=0, metavar="TOKENS", help="the same, counted in tokens")
    _add_execution(build)
    _add_config(build)
    build.set_defaults(run=_build)

    estimate = verbs.add_parser("forecast", help="calls, tokens, money and time of an LLM build, before it is begun")
    add_sources(estimate)
    estimate.add_argument("--dry-run", type=int, default=0, metavar="CHUNKS", help="extract so many chunks first")
    _add_config(estimate)
    estimate.set_defaults(run=_forecast)

    show = verbs.add_parser("show", help="what an index holds")
    show.add_argument("index", type=Path, metavar="DIR")
    show.set_defaults(run=_show)

    ask = verbs.add_parser("ask", help="a question to an index")
    ask.add_argument("index", type=Path, metavar="DIR")
    ask.add_argument("question")
    ask.add_argument("--strategy", default="leanrag")
    _add_preset(ask, "top-N, top-C and the token budgets")
    ask.add_argument("--top-n", type=int, default=None)
    ask.add_argument("--top-c", type=int, default=None)
    ask.add_argument("--no-answer", action="store_true", help="retrieve only")
    ask.add_argument("--option", action="append", default=[], metavar="NAME=VALUE", help="an option of the strategy")
    ask.set_defaults(run=_ask)

    check = verbs.add_parser("check", help="verify every invariant of a stored index")
    check.add_argument("index", type=Path, metavar="DIR")
    check.set_defaults(run=_check)

    for verb in (build, estimate, show, ask, check):
        verb.add_argument("--json", action="store_true", help="a machine-readable result on stdout")

    job = verbs.add_parser("run-job", help="do a job of the app in this process (the app calls this)")
    job.add_argument("folder", type=Path)
    job.set_defaults(run=_run_job)
    return parser


def _add_config(parser: argparse.ArgumentParser) -> None:
    """An option for every field of IndexConfig that fits into one; those that are not given come from the preset."""
    _add_preset(parser, "how the index is built")
    cap = argparse.BooleanOptionalAction
    parser.add_argument("--size-cap", action=cap, default=argparse.SUPPRESS, help="no cluster above 2 x clustersize")
    for spec in fields(IndexConfig):
        if spec.name in ("size_cap", "entity_types", "prompts"):
            continue
        kind = int if isinstance(spec.default, int) else str
        text = f"{spec.metadata['help']} (default: {spec.default})".replace("%", "%%")
        parser.add_argument(f"--{spec.name.replace('_', '-')}", type=kind, default=argparse.SUPPRESS, help=text)


def _add_preset(parser: argparse.ArgumentParser, what: str) -> None:
    names = [one.name for one in presets()]
    parser.add_argument("--preset", choices=names, default=names[0], help=f"{what}; other options go before it")


def _add_execution(parser: argparse.ArgumentParser) -> None:
    """Who does the work; the settings say it where the command does not."""
    kinds = ("threads", "processes", "dask")
    parser.add_argument("--execution", choices=kinds, help="who reads, embeds and clusters; the index is the same")
    parser.add_argument("--workers", type=int, metavar="N", help="threads or processes (default: one a core)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, such as tcp://10.0.0.1:8786")


def _execution_of(options: argparse.Namespace, settings: Execution) -> Execution:
    """The settings' choice, or the command's where it makes one. Raises InvalidConfig."""
    if options.execution is None and options.scheduler is None:
        return settings if options.workers is None else replace(settings, workers=options.workers)
    kind = options.execution or "dask"  # who names a scheduler means Dask
    scheduler = options.scheduler or (settings.scheduler if kind == "dask" else "")
    return Execution(kind, options.workers or 0, scheduler)


def _config_of(options: argparse.Namespace) -> IndexConfig:
    names = {spec.name for spec in fields(IndexConfig)} - {"entity_types", "prompts"}
    return preset(options.preset).config(**{name: getattr(options, name) for name in names if hasattr(options, name)})


def _print(value: Any) -> None:
    print(json.dumps(value, ensure_ascii=False, indent=1))


def _build(options: argparse.Namespace) -> int:
    from leanrag_core.execution.choice import opened
    from leanrag_core.indexing.build import build_index
    from leanrag_core.indexing.describe import describe
    from leanrag_core.models.metering import Budget
    from leanrag_core.models.registry import require_models
    from leanrag_core.storage.chroma_server import connect_to_server
    from leanrag_core.storage.ownership import require_replaceable, require_sources_outside
    from leanrag_core.storage.staging import give_up_staging
    from leanrag_core.workbench import Workbench, open_index

    config = _config_of(options)
    require_replaceable(options.out)
    require_sources_outside(options.paths, options.out)
    budget = Budget(options.budget, options.budget_tokens)
    bench = Workbench.default()
    models = bench.models(budget=budget, index=options.name or options.out.name)
    execution = _execution_of(options, models.settings.execution)
    require_models(models, config)
    language, embedding = models.language(config.model), models.embedding(config.embedding)
    started = time.perf_counter()
    options.stop.line = "stopped; nothing half-finished is left, and what models answered is kept for the next time"
    parsed = read_sources(options, bench)
    if options.resume and _is_built(options.out, config, parsed.documents):
        print(f"{options.out} is already built from these documents with these settings", file=sys.stderr)
    else:
        options.stop.clean_up = lambda: give_up_staging(options.out)
        with opened(execution, bench.batches) as executor:
            build_index(
                parsed.documents,
                config,
                options.out,
                embedding=embedding,
                language=language,
                aggregation=models.language(config.aggregation_model or config.model),
                workers=models.settings.concurrency,
                executor=executor,
                connect=connect_to_server(models.settings.chroma_url) if models.settings.chroma_url else None,
                name=options.name or Path(os.path.abspath(options.paths[0])).name,
                refusals=parsed.refusals,
                report=_Progress(),
            )
    shown = describe(open_index(options.out))
    seconds = time.perf_counter() - started
    refused = [asdict(refusal) for refusal in parsed.refusals]
    if options.json:
        _print({**shown, "index": str(options.out), "seconds": round(seconds, 2), "refused": refused})
    else:
        print(f"{options.out}: {_sentence(shown)} {seconds:.1f} s, {counted(len(refused), 'file')} refused.")
    return 0


def _forecast(options: argparse.Namespace) -> int:
    from leanrag_core.workbench import Workbench

    config = _config_of(options)
    bench = Workbench.default()
    parsed = read_sources(options, bench)
    made = bench.forecast_of(parsed.documents, config, dry_run=options.dry_run)
    if made is None:
        print(
            "the built-in engine makes no calls and costs nothing; name a model with --model openai:NAME",
            file=sys.stderr,
        )
        return 2
    totals = {"calls": made.calls, "tokens": made.tokens, "dollars": made.dollars, "seconds": made.seconds}
    if options.json:
        cells = {name: asdict(range_) for name, range_ in totals.items()}
        _print({**asdict(made), "totals": cells, "saved": made.saved})
        return 0
    print(f"{made.chunks:,} chunks, {made.sampled:,} of them known; {made.saved:,} calls saved by stored answers")
    for stage in made.stages:
        calls = stage.calls
        print(f"{stage.stage:>20}: {calls.expected:>9,.0f} calls ({calls.low:,.0f} to {calls.high:,.0f})")
    for name, range_ in totals.items():
        digits = 2 if name == "dollars" else 0
        print(f"{name:>20}: {range_.expected:>9,.{digits}f} ({range_.low:,.{digits}f} to {range_.high:,.{digits}f})")
    return 0


def _is_built(out: Path, config: IndexConfig, documents: Sequence[Any]) -> bool:
    from leanrag_core.errors import IndexNotFound
    from leanrag_core.indexing.build import in_build_order
    from leanrag_core.indexing.manifest import corpus_fingerprint
    from leanrag_core.storage.layout import read_manifest

    try:
        manifest = read_manifest(out)
    except IndexNotFound:
        return False
    same_config = manifest["config"] == json.loads(json.dumps(asdict(config)))
    return same_config and manifest["corpus_fingerprint"] == corpus_fingerprint(in_build_order(documents))


class _Progress:
    """Tells the progress of a build on stderr, a line a stage and every few seconds."""

    def __init__(self) -> None:
        self.stage, self.at = "", 0.0

    def __call__(self, progress: Progress) -> None:
        ends = progress.total > 0 and progress.done == progress.total
        if progress.stage == self.stage and not ends and time.monotonic() - self.at < 3:
            return
        self.stage, self.at = progress.stage, time.monotonic()
        count = f" {progress.done:,}/{progress.total:,} {progress.unit}" if progress.total else ""
        waits = f", {visible(progress.current)}" if progress.current and not progress.done else ""
        print(f"{progress.stage}{count}{waits}", file=sys.stderr)


def _sentence(shown: dict[str, Any]) -> str:
    sizes = ", ".join(f"{layer['entities']:,}" for layer in shown["layers"])
    relations = sum(layer["relations"] for layer in shown["layers"])
    instead = shown["builtin_texts"]
    told = f" ({instead:,} of its texts by the built-in writer, since the model failed)" if instead else ""
    return (
        f"{shown['kind']}{told} of {counted(shown['documents'], 'document')}, {counted(shown['chunks'], 'chunk')}; "
        f"nodes by layer {sizes}; {counted(relations, 'relation')}."
    )


def _show(options: argparse.Namespace) -> int:
    from leanrag_core.indexing.describe import describe
    from leanrag_core.workbench import open_index

    shown = describe(open_index(options.index))
    if options.json:
        _print(shown)
        return 0
    print(f"{visible(shown['name'])}: {_sentence(shown)}")
    print(
        f"{'layer':>5} {'entities':>9} {'relations':>9} {'summarised':>10} {'clusters':>8} {'largest':>7} {'parts':>6}"
    )
    for row in shown["layers"]:
        print(
            f"{row['layer']:>5} {row['entities']:>9,} {row['relations']:>9,} {row['summarised']:>10,} "
            f"{row['clusters']:>8,} {row['largest_cluster']:>7,} {row['components']:>6,}"
        )
    print("dropped: " + (", ".join(f"{n:,} in {stage}" for stage, n in shown["drops"].items()) or "nothing"))
    return 0


def _ask(options: argparse.Namespace) -> int:
    from leanrag_core.answering import ask_record
    from leanrag_core.retrieval.base import strategies
    from leanrag_core.workbench import Workbench, open_index

    chosen: dict[str, Any] = {}
    known = next((one.config for one in strategies() if one.name == options.strategy), None)
    if known is not None:  # another strategy takes those of its options that the preset speaks of
        chosen |= {name: value for name, value in preset(options.preset).ask.items() if hasattr(known, name)}
    for pair in options.option:
        name, separator, value = pair.partition("=")
        if not separator:
            raise InvalidConfig(f"--option {pair!r} is not NAME=VALUE")
        try:
            chosen[name.replace("-", "_")] = json.loads(value.lower())
        except ValueError:
            chosen[name.replace("-", "_")] = value
    for name in ("top_n", "top_c"):
        if getattr(options, name) is not None:
            chosen[name] = getattr(options, name)
    bench, index = Workbench.default(), open_index(options.index)
    trace = bench.retrieve(index, options.question, options.strategy, **chosen)
    answer = None if options.no_answer else bench.answer(index, trace)
    if options.json:
        _print(ask_record(trace, answer))
        return 0
    for step in trace.steps:
        print(f"{step.name:>9}: {visible(step.caption)}")
    for note in trace.notes:
        print(f"{'note':>9}: {visible(note)}")
    for place, chunk in enumerate(trace.chunks, start=1):
        print(f"{f'C{place}':>9}: {chunk.document} [{chunk.start}:{chunk.end}], {counted(chunk.seed_count, 'seed')}")
    if answer:
        print(f"\n{'Extractive answer' if answer.extractive else 'Answer'}: {visible(answer.text)}")
    return 0


def _check(options: argparse.Namespace) -> int:
    from leanrag_core.workbench import Workbench

    results = Workbench.default().check(options.index)
    passed = all(result.ok for result in results)
    if options.json:
        _print({"ok": passed, "checks": [asdict(result) for result in results]})
    else:
        for result in results:
            print(f"{'ok  ' if result.ok else 'FAIL'} {result.name}: {result.detail}")
            for problem in result.problems[3:]:
                print(f"     {problem}")
    return 0 if passed else 1


def _run_job(options: argparse.Namespace) -> int:
    from leanrag_core.workbench import Workbench

    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    folder = options.folder.resolve()
    return Workbench.default(folder.parent.parent).run_job(folder)


def _as_program() -> int:
    stop = Stop()
    if sys.argv[1:2] != ["run-job"]:
        stop.listen()
    return main(stop=stop)


if __name__ == "__main__":
    sys.exit(_as_program())
