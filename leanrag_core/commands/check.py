"""check: every invariant of a stored index, verified."""

import argparse
from dataclasses import asdict
from pathlib import Path

from leanrag_core.commands._options import add_json
from leanrag_core.commands._printing import print_json
from leanrag_core.workbench import Workbench


def add_verbs(verbs: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the verb check."""
    parser = verbs.add_parser("check", help="verify every invariant of a stored index")
    parser.add_argument("index", type=Path, metavar="DIR")
    add_json(parser)
    parser.set_defaults(run=_check)


def _check(options: argparse.Namespace) -> int:
    results = Workbench.default().check(options.index)
    passed = all(result.ok for result in results)
    if options.json:
        print_json({"ok": passed, "checks": [asdict(result) for result in results]})
    else:
        for result in results:
            print(f"{'ok  ' if result.ok else 'FAIL'} {result.name}: {result.detail}")
            for problem in result.problems[3:]:
                print(f"     {problem}")
    return 0 if passed else 1
