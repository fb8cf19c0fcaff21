"""check: every invariant of a stored index, verified."""

import argparse
from dataclasses import asdict

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb check."""
    parser = index_verb(verbs, "check", "verify every invariant of a stored index")
    set_run(parser, _check)


def _check(options: argparse.Namespace) -> int:
    results = Workbench.default().check(options.index)
    passed = all(result.ok for result in results)
    if not printed_json(options, {"ok": passed, "checks": [asdict(result) for result in results]}):
        for result in results:
            print(f"{'ok  ' if result.ok else 'FAIL'} {result.name}: {result.detail}")
            for problem in result.problems[3:]:
                print(f"     {problem}")
    return 0 if passed else 1
