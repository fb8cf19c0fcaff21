"""ask: a question to an index."""

import argparse
import sys
from pathlib import Path

from leanrag_core.answering.record import ask_record
from leanrag_core.commands._options import Verbs, add_asked, add_scope, asked_options, scope_of, set_run
from leanrag_core.commands._printing import make_needed_parts, print_run, printed_json
from leanrag_core.errors import LeanRAGError
from leanrag_core.messages.catalog import sentence
from leanrag_core.storage.history import write_run
from leanrag_core.types.index import Index
from leanrag_core.types.question_set import HistoryEntry
from leanrag_core.types.scope import Scope, written
from leanrag_core.types.trace import Answer, RecordedRun
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index


def add_verbs(verbs: Verbs) -> None:
    """Add the verb ask."""
    parser = verbs.add_parser("ask", help="a question to an index")
    add_asked(parser)
    add_scope(parser)
    parser.add_argument(
        "--after",
        action="append",
        default=[],
        metavar="QUESTION",
        help="a question before it, which it may point back to",
    )
    parser.add_argument("--no-answer", action="store_true", help="retrieve only")
    parser.add_argument("--save", type=Path, metavar="FILE", help="record the run, for show-run and the app")
    set_run(parser, _ask)


def _ask(options: argparse.Namespace) -> None:
    chosen = asked_options(options)
    bench, whole_index = Workbench.default(), open_index(options.index)
    index = bench.scopes.index(whole_index, scope_of(options))
    make_needed_parts(bench, whole_index, options.strategy, chosen)
    question = options.question
    if options.after:
        standalone = bench.questions.follow_up(index, question, options.after)
        question = standalone.question
        print(f"asked as: {visible(question)} ({visible(sentence(standalone.said))})", file=sys.stderr)
    trace = bench.retrieve(index, question, options.strategy, **chosen)
    answer = None if options.no_answer else bench.answer(index, trace)
    if options.save:
        write_run(options.save, RecordedRun(trace, answer))
    _keep(bench, whole_index, question, options.strategy, answer, trace.scope)
    if printed_json(options, ask_record(trace, answer)):
        return
    print_run(trace, answer)


def _keep(
    bench: Workbench, index: Index, question: str, strategy: str, answer: Answer | None, scope: Scope | None
) -> None:
    """Note the question in the history, which links to indexes of the workbench alone."""
    if index.path is None or not bench.indexes.holds(index.path):
        return
    id_ = index.path.resolve().name
    text = answer.text if answer is not None and answer.grounded else ""
    link = {"index": id_, "q": question, "strategy": strategy} | ({"in": written(scope)} if scope else {})
    try:
        bench.history.keep(HistoryEntry.now(id_, index.manifest.name, question, strategy, link=link, answer=text))
    except LeanRAGError as error:  # the answer is printed nevertheless
        print(visible(str(error)), file=sys.stderr)
