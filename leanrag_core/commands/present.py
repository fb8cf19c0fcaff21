"""present: a story of one index for people who do not know it, stored whole, listed, exported as one HTML file."""

import argparse
from dataclasses import asdict
from datetime import date
from pathlib import Path

from leanrag_core.commands._options import Verbs, index_verb, option_values, set_run
from leanrag_core.commands._printing import PrintedProgress, printed_json, show
from leanrag_core.errors import InvalidConfig
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.files.atomic import write_bytes, writing
from leanrag_core.files.records import from_json
from leanrag_core.messages.catalog import ENGLISH, languages
from leanrag_core.messages.message import message
from leanrag_core.presenting.storing import content_of, read_presentation
from leanrag_core.presenting.story import LEANRAG, NAIVE, Presentation, PresentationPlan, PresentedStrategy
from leanrag_core.types.visible import visible
from leanrag_core.workbench import Workbench, open_index
from leanrag_core.workbench.presentations import export_presentation


def add_verbs(verbs: Verbs) -> None:
    """Add the verb present with its own verbs."""
    parser = verbs.add_parser("present", help="a story of one index: make, list, export")
    kinds = parser.add_subparsers(dest="what", required=True, metavar="WHAT")

    making = index_verb(kinds, "make", "ask the questions and keep all that the slides show")
    making.add_argument("--title", required=True)
    making.add_argument(
        "--question", action="append", default=[], help="a question, or its id in the question set; may be repeated"
    )
    making.add_argument(
        "--question-set", default="", metavar="ID", help="the set that ids of questions are looked up in"
    )
    making.add_argument(
        "--beside",
        action="append",
        default=[],
        metavar="STRATEGY[,OPTION=VALUE...]",
        help="a strategy beside LeanRAG (default: vector)",
    )
    making.add_argument("--notes", type=Path, metavar="FILE", help="JSON: a speaker's notes by slide")
    making.add_argument("--made", default="", metavar="DAY", help="the day to write on it (default: today)")
    making.add_argument("--out", type=Path, metavar="FILE", help="write this file instead of storing it")
    set_run(making, _make)

    listing = kinds.add_parser("list", help="the presentations that there are")
    set_run(listing, _list)

    exporting = kinds.add_parser("export", help="one HTML file that needs neither server nor network")
    exporting.add_argument("presentation", metavar="ID|FILE")
    exporting.add_argument("--out", type=Path, required=True, metavar="FILE")
    exporting.add_argument("--language", choices=languages(), default=ENGLISH)
    set_run(exporting, _export)


def _make(options: argparse.Namespace) -> None:
    bench, index = Workbench.default(), open_index(options.index)
    beside = [_strategy(text) for text in options.beside] or [PresentedStrategy(NAIVE)]
    plan = PresentationPlan(
        title=options.title,
        questions=_questions(bench, options.question_set, options.question),
        strategies=(PresentedStrategy(LEANRAG), *beside),
        made=_day(options.made),
        notes=_notes(options.notes),
    )
    presentation = bench.presentations.make(index, plan, report=PrintedProgress())
    if options.out:
        with writing(message("what.presentation", title=plan.title)):
            write_bytes(options.out, content_of(presentation))
        place = str(options.out)
    else:
        place = bench.presentations.add(presentation)
    values = {"presentation": place, "title": presentation.title, "questions": len(presentation.questions)}
    show(options, values, visible(place))


def _questions(bench: Workbench, set_id: str, texts: list[str]) -> tuple[GoldQuestion, ...]:
    known = {question.id: question for question in bench.question_sets.questions(set_id)} if set_id else {}
    return tuple(known.get(text) or GoldQuestion(f"own-{number}", text) for number, text in enumerate(texts, start=1))


def _strategy(text: str) -> PresentedStrategy:
    name, *pairs = text.split(",")
    return PresentedStrategy(name, option_values(pairs))


def _day(text: str) -> str:
    if not text:
        return date.today().isoformat()
    try:
        return date.fromisoformat(text).isoformat()
    except ValueError:
        raise InvalidConfig("present.bad_day", day=text) from None


def _notes(path: Path | None) -> dict[str, str]:
    return {} if path is None else from_json(dict[str, str], path.read_bytes(), name=path.name)


def _list(options: argparse.Namespace) -> None:
    listed = Workbench.default().presentations.all()
    if printed_json(options, asdict(listed)):
        return
    for each in listed.presentations:
        strategies = ", ".join(each.strategies)
        print(f"{visible(each.id)}: {visible(each.title)}; {visible(each.index)}; {len(each.questions)}; {strategies}")
    for damaged in listed.damaged:
        print(f"{visible(damaged.id)}: {visible(damaged.reason)}")


def _export(options: argparse.Namespace) -> None:
    bench = Workbench.default()
    size = export_presentation(_presentation(bench, options.presentation), options.out, options.language)
    show(options, {"file": str(options.out), "bytes": size}, f"{options.out}: {size:,} bytes")


def _presentation(bench: Workbench, name: str) -> Presentation:
    path = Path(name)
    return read_presentation(path) if path.suffix == ".json" and path.is_file() else bench.presentations.read(name)
