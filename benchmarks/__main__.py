"""Command line of the benchmarks: sections to run, a table on standard output, results as JSON."""

import argparse
import sys
from pathlib import Path

from benchmarks.frame import FOLDER, Measured, Section, circumstances, command_line, keep, measured, sections, table

_SHOWN_LAST = ("wall_seconds", "peak_gb")


def main(arguments: list[str] | None = None) -> int:
    """Run what was asked. 0: every figure was taken; 1: something failed and was reported; 2: the command is wrong."""
    known = {section.name: section for section in sections()}
    options = _parser(known).parse_args(arguments)
    options.command = command_line(arguments)
    unknown = [name for name in options.sections if name not in known]
    if unknown:
        print(f"there is no section {unknown[0]!r}; choose from {', '.join(known)}", file=sys.stderr)
        return 2
    failed = False
    for name in options.sections or known:
        section = known[name]
        taken = _run(section, options)
        failed |= any(measured.error for measured in taken)
        if options.peers:
            failed |= _compare(section, taken, options)
    return int(failed)


def _parser(known: dict[str, Section]) -> argparse.ArgumentParser:
    listed = "\n".join(
        f"  {section.name:<12}{section.title}; sizes {', '.join(f'{size:,}' for size in section.sizes)}"
        for section in known.values()
    )
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=f"Measure sections, each size in a process of its own.\n\nsections:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("sections", nargs="*", metavar="SECTION", help="all when none is named")
    parser.add_argument("--sizes", type=_sizes, help="such as 1000,5000; each section has its own otherwise")
    parser.add_argument("--out", type=Path, default=FOLDER / "results", help="folder for the JSON results")
    parser.add_argument("--timeout", type=float, default=3600.0, help="seconds that one measure may take")
    parser.add_argument(
        "--peers",
        action="store_true",
        help="clustering and retrieval: install other systems in environments of their own and measure them alike",
    )
    parser.add_argument(
        "--peers-env", type=Path, help="folder for these environments; the user's cache folder otherwise"
    )
    parser.add_argument("--peer", action="append", help="only this one of the other systems; may be repeated")
    return parser


def _sizes(text: str) -> tuple[int, ...]:
    try:
        sizes = tuple(int(part.replace("_", "")) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is no list of sizes; write them like 1000,5000") from None
    if min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"a size is at least 1, not {min(sizes)}")
    return sizes


def _run(section: Section, options: argparse.Namespace) -> list[Measured]:
    """Measure every size, print the table, keep the results."""
    about = circumstances(options.command)
    taken = []
    for size in options.sizes or section.sizes:
        print(f"{section.name}: {size:,} ...", file=sys.stderr, flush=True)
        taken.append(measured(section, size, timeout_seconds=options.timeout))
        if taken[-1].error:
            print(f"{section.name} at {size:,} failed: {taken[-1].error}", file=sys.stderr, flush=True)
    good = [figure for figure in taken if not figure.error]
    if good:
        print(f"\n{section.title}\n\n{table(_row(figure) for figure in good)}\n", flush=True)
        results = [{"size": figure.size, "figures": figure.figures, **about} for figure in good]
        keep(
            options.out / f"{section.name}.json", {"section": section.name, "title": section.title}, results, ("size",)
        )
    return taken


def _row(measurement: Measured) -> dict[str, object]:
    first = {name: value for name, value in measurement.figures.items() if name not in _SHOWN_LAST}
    return {
        "size": measurement.size,
        **first,
        **{name: measurement.figures[name] for name in _SHOWN_LAST if name in measurement.figures},
    }


def _compare(section: Section, taken: list[Measured], options: argparse.Namespace) -> bool:
    """Measure the section's peers beside our own figures of this run. True when one failed."""
    from benchmarks.peers.side_by_side import compare, sizes_of

    sizes = sizes_of(section.name, options.sizes)
    if not sizes:
        return False
    compared = compare(
        section.name,
        sizes,
        {figure.size: figure.figures for figure in taken if not figure.error},
        only=options.peer,
        environments=options.peers_env,
        timeout_seconds=options.timeout,
    )
    if compared.rows:
        print(f"\n{compared.title}\n\n{table(compared.rows)}\n", flush=True)
        about = circumstances(options.command)
        own = about["versions"]
        results = [{**row, **about, "versions": compared.versions.get(row["system"], own)} for row in compared.rows]
        head = {"section": section.name, "title": compared.title}
        keep(options.out / f"{section.name}-peers.json", head, results, ("size", "system"))
    for reason in compared.failures:
        print(reason, file=sys.stderr, flush=True)
    return bool(compared.failures)


if __name__ == "__main__":
    sys.exit(main())
