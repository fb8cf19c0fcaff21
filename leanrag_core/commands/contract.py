"""contract: what holds for every strategy, checked on one."""

import argparse
import sys
import tempfile
from pathlib import Path

from leanrag_core.commands._options import Verbs, set_run
from leanrag_core.commands._printing import printed_json
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import strategies
from leanrag_core.strategy_contract import build_indexes, case, declarations, problems
from leanrag_core.text.plain_words import in_words
from leanrag_core.workbench import Workbench


def add_verbs(verbs: Verbs) -> None:
    """Add the verb contract."""
    parser = verbs.add_parser("contract", help="check a retrieval strategy against what holds for every one")
    parser.add_argument("strategy", metavar="NAME", help="a strategy of the program, or of an installed package")
    set_run(parser, _contract)


def _contract(options: argparse.Namespace) -> int:
    # Here, since checks need pictures, answers and a workbench, which no other verb loads together.
    for broken in strategies().broken:
        print(sentence(broken.message), file=sys.stderr)
    name = strategies().named(options.strategy).name
    problems_at, empty = {"declarations": list(declarations(name))}, set[str]()
    with tempfile.TemporaryDirectory() as root:
        bench = Workbench.default(Path(root))
        for where, index in build_indexes(bench).items():
            try:
                checked = case(bench, index, name, where)
                problems_at[where] = problems(checked)
                if not checked.trace.context.text:
                    empty.add(where)
            except Exception as error:  # a strategy that somebody wrote may raise anything
                problems_at[where] = [f"no trace: {in_words(error)}"]
    checks = [
        {"where": where, "problems": texts, "retrieved_nothing": where in empty} for where, texts in problems_at.items()
    ]
    exit_code = int(any(problems_at.values()))
    if printed_json(options, {"strategy": name, "checks": checks}):
        return exit_code
    for where, texts in problems_at.items():
        print(f"{'FAIL' if texts else 'ok  '} {where}{': retrieved nothing' if where in empty else ''}")
        for text in texts:
            print(f"     {text}")
    return exit_code
