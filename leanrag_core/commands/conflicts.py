"""conflicts: quotes of an index that contradict each other."""

import argparse
import sys
from collections.abc import Sequence

from leanrag_core.commands._options import Verbs, index_verb, set_run
from leanrag_core.commands._printing import print_json
from leanrag_core.evaluation.judging.asking import require_judge
from leanrag_core.files.records import plain
from leanrag_core.messages.catalog import sentence
from leanrag_core.messages.message import message
from leanrag_core.queries.conflicts import ConflictVerdict, find_conflicts, judge, judge_cost
from leanrag_core.types.conflicts import Conflict, Quote
from leanrag_core.types.index import Index
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb conflicts."""
    parser = index_verb(verbs, "conflicts", "quotes that contradict each other, found by rules")
    parser.add_argument(
        "--judge", metavar="MODEL", help="openai:NAME: what it would cost to let that model confirm each"
    )
    parser.add_argument("--yes", action="store_true", help="with --judge: ask it")
    set_run(parser, _conflicts)


def _conflicts(options: argparse.Namespace) -> None:
    index = open_index(options.index)
    report = find_conflicts(index)
    verdicts = _verdicts(options, index, report.conflicts) if options.judge else []
    if options.json:
        ids = index.chunks["id"]
        values = plain(report)
        for conflict in values["conflicts"]:
            for side in ("first", "second"):
                conflict[side]["chunk_id"] = ids[conflict[side]["chunk"]].as_py()
        judged = {"verdicts": [each.verdict for each in verdicts]} if verdicts else {}
        print_json({"n": len(report.conflicts), **values, **judged})
        return
    for number, conflict in enumerate(report.conflicts):
        verdict = f" ({options.judge}: {verdicts[number].verdict})" if verdicts else ""
        print(f"{visible(' – '.join(conflict.names))}: {visible(conflict.what)}{visible(verdict)}")
        for quote in (conflict.first, conflict.second):
            print(f"  {visible(quote.text)}\n    {_place(index, quote)}")
    counts = {"sentences": report.sentences, "statements": report.statements}
    print(sentence(message("conflicts.found", n=len(report.conflicts), **counts)))


def _verdicts(options: argparse.Namespace, index: Index, conflicts: Sequence[Conflict]) -> list[ConflictVerdict]:
    """Say what the model's verdicts cost; return them where they are asked for. Raises InvalidConfig for no model."""
    models = Workbench.default().models.make(index=index.folder_name)
    language = require_judge(options.judge, models)
    cost = message("conflicts.cost", n=len(conflicts), tokens=judge_cost(conflicts), model=options.judge)
    print(visible(sentence(cost)), file=sys.stderr)
    return [judge(each, language) for each in conflicts] if options.yes else []


def _place(index: Index, quote: Quote) -> str:
    """Return where the quote is, and the date of its document."""
    chunk = index.chunk_cells.value("id", quote.chunk)
    dated = f", dated {quote.date}" if quote.date else ""
    return f"{visible(quote.document)}{dated}, chunk {chunk}, characters {quote.start} to {quote.end}"
