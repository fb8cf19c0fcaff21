"""What holds for every retrieval strategy, on small indexes at the limits: `python -m leanrag_core contract NAME`.

An extender runs it on a strategy of his own; the tests run it on those of the program.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from leanrag_core.answering.record import ask_record
from leanrag_core.errors import InvalidConfig, LeanRAGError
from leanrag_core.figures.changes import changes
from leanrag_core.figures.layered import layered_graph
from leanrag_core.figures.layered_places import NARROW, WIDE
from leanrag_core.files.records import from_json, to_json
from leanrag_core.indexing.part_base import parts
from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.base import BADGES, RERANK, equal_budget, strategies, strategy
from leanrag_core.retrieval.context import losses
from leanrag_core.storage.history import read_run, write_run
from leanrag_core.text.plain_words import in_words
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index
from leanrag_core.types.trace import RecordedRun, Trace
from leanrag_core.workbench import Workbench

QUESTION = "What do beekeepers use against Varroa destructor?"
TEXTS = {
    "tiny": {
        "bees.md": "# Bees\n\nVarroa destructor is a mite that weakens honey bee colonies. Beekeepers treat Varroa "
        "destructor with oxalic acid in winter. Honey bees pollinate oilseed rape.\n",
        "hives.txt": "Lorenzo Langstroth patented the hive in 1852. Beekeepers inspect the movable frames for Varroa "
        "destructor. Honey bees build comb in the movable frames.\n",
    },
    "one chunk": {"bee.txt": "Honey bees pollinate oilseed rape."},
    "no relations": {"a.txt": "Langstroth.", "b.txt": "Varroa destructor."},
    "chinese": {"bees.txt": "蜜蜂给油菜授粉。养蜂人用草酸治疗瓦螨。瓦螨削弱蜂群。"},
}
QUESTIONS = {"chinese": "养蜂人用什么治疗瓦螨?"}
_SMALL_BUDGET = 30  # tokens, where the option allows so few


def build_indexes(bench: Workbench) -> dict[str, Index]:
    """Return the four indexes by name, built by the built-in models."""
    for name, files in TEXTS.items():
        contents = [(file, text.encode()) for file, text in files.items()]
        bench.build(bench.add_documents(name, contents).corpus_id, IndexConfig(cluster_size=2), name=name)
    ids = {summary.name: summary.id for summary in bench.indexes.all()}
    return {name: bench.indexes.open(ids[name]) for name in TEXTS}


def make_parts(bench: Workbench, index: Index, name: str) -> None:
    """Make the index parts that the strategy needs, and what these need, unless the index has them."""
    known = {info.name: info for info in parts().parts}
    wanted = list(strategies().named(name).parts)
    for part in wanted:
        wanted += [need for need in known[part].part.needs if need in known]
    finished = bench.parts.finished(index)
    for part in dict.fromkeys(reversed(wanted)):
        if part not in finished:
            bench.parts.build(index, part)


@dataclass(frozen=True, eq=False)
class Case:
    """A strategy on an index. trace: of the question there, with official options."""

    bench: Workbench
    index: Index
    name: str
    question: str
    trace: Trace

    def retrieve(self, **options: Any) -> Trace:
        """Return another trace of the question."""
        return self.bench.retrieve(self.index, self.question, self.name, **options)


Check = Callable[[Case], Iterator[str]]  # yields what does not hold


def case(bench: Workbench, index: Index, name: str, where: str) -> Case:
    """Return the case of that strategy on the index of that name in TEXTS."""
    make_parts(bench, index, name)
    question = QUESTIONS.get(where, QUESTION)
    return Case(bench, index, name, question, bench.retrieve(index, question, name))


def references(case: Case) -> Iterator[str]:
    """Check that what a trace refers to is in it, and that what it draws has a style."""
    trace = case.trace
    ids = [item.id for item in trace.items] + [relation.id for relation in trace.relations]
    if len(ids) != len(set(ids)):
        yield "two items or relations have the same id"
    items, relations = {item.id for item in trace.items}, {relation.id for relation in trace.relations}
    referred = {
        "a relation leads to": {end for each in trace.relations for end in (each.source, each.target)} - items,
        "an item's parent is": {item.parent for item in trace.items if item.parent} - items,
        "a passage was led to by": {id_ for each in trace.passages if each.source for id_ in each.source.items} - items,
        "a step lights up": {id_ for step in trace.steps for id_ in step.items} - items,
        "a step lights up the relation": {id_ for step in trace.steps for id_ in step.relations} - relations,
        "the context cites": {each.ref for part in trace.context.sections for each in part.items} - items - relations,
        "an item is drawn without a style, role": {item.role for item in trace.items} - _styled(trace, "item"),
        "a relation is drawn without a style, role": {each.role for each in trace.relations}
        - _styled(trace, "relation"),
    }
    yield from (
        f"{text} {sorted(absent)[0]!r}, which is not in the trace" for text, absent in referred.items() if absent
    )
    if not trace.steps or len({step.name for step in trace.steps}) != len(trace.steps):
        yield "there is no step, or two have the same name"
    if trace.index.layer_sizes != tuple(len(layer) for layer in case.index.layers):
        yield "the trace's index is another one: use trace_index(index)"
    if not set(trace.ranked_chunks) <= set(range(case.index.chunks.num_rows)):
        yield "ranked_chunks has a row that the index lacks"


def _styled(trace: Trace, on: str) -> set[str]:
    return {style.role for style in trace.styles if style.on == on}


def passages(case: Case) -> Iterator[str]:
    """Check that passages are texts of their documents, and that there is one where chunks were ranked."""
    if case.trace.ranked_chunks and not case.trace.passages:
        yield "chunks are ranked, and no passage is in the trace"
    for passage in case.trace.passages:
        source = passage.source
        assert source is not None  # or it were no passage
        document = case.index.document(source.document_row)
        if document.text[source.start : source.end] != passage.text:
            yield f"the text of passage {passage.id!r} is not that of its document from start to end"
        if (document.name, document.title) != (source.document, source.title):
            yield f"passage {passage.id!r} names another document"


def measured(case: Case) -> Iterator[str]:
    """Check that, where the context alone is wanted, it and its passages are those of the whole trace."""
    retrieve = case.bench.questions.retriever(case.index, case.name, {}, context_alone=True)
    trace = retrieve(case.trace.question)
    if (trace.context, trace.passages) != (case.trace.context, case.trace.passages):
        yield "the context or its passages are others when tools.context_alone is set"


def budgets(case: Case) -> Iterator[str]:
    """Check that a context keeps its budgets, also the smallest, says what it lacks, and has unique marks."""
    fields = strategies().named(case.name).config.__dataclass_fields__
    small = {
        name: max(_SMALL_BUDGET, int(field.metadata.get("low") or 0))
        for name, field in fields.items()
        if name.endswith("tokens")
    }
    yield from _context_problems(case.trace, {})
    yield from _context_problems(case.retrieve(**small), small)


def option_values(case: Case) -> Iterator[str]:
    """Check that each option alone may have its bounds, or another choice: a context that keeps its budgets is made, or
    refused with a reason. On an index of one chunk most values change nothing."""
    if case.index.chunks.num_rows < 2:
        return
    for name, value in _values_beside_the_default(case.name):
        try:
            trace = case.retrieve(**{name: value})
        except LeanRAGError:  # such as a part or a search index that only this value needs
            continue
        except Exception as error:  # a strategy that somebody wrote may raise anything
            yield f"with {name}={value} there is no trace: {in_words(error)}"
            continue
        yield from (f"with {name}={value} {problem}" for problem in _context_problems(trace, {}))


def _values_beside_the_default(name: str) -> Iterator[tuple[str, Any]]:
    fields = strategies().named(name).config.__dataclass_fields__
    for option, spec in fields.items():
        bounds = (spec.metadata.get("low"), spec.metadata.get("high"))
        values = (True, False) if isinstance(spec.default, bool) else spec.metadata.get("choices") or bounds
        if option != RERANK:  # needs a server
            yield from ((option, value) for value in values if value is not None and value != spec.default)


def _context_problems(trace: Trace, small: Mapping[str, int]) -> Iterator[str]:
    context = trace.context
    letters = [section.letter for section in context.sections]
    if not len(letters) == len(set(letters)) == len({section.name for section in context.sections}):
        yield "two sections have the same letter or name"
    for section in context.sections:
        letter = section.letter
        if not (letter.isalpha() and letter.isupper()):
            yield f"the letter {letter!r} is no upper-case letter"
        if [item.mark for item in section.items] != [f"{letter}{n}" for n in range(1, len(section.items) + 1)]:
            yield f"the marks of section {section.name!r} are not {letter}1, {letter}2, ..."
        if not section.tokens == count_tokens(section.text) <= section.budget:
            counted = count_tokens(section.text)
            yield f"section {section.name!r} says {section.tokens} tokens of {section.budget}, and has {counted}"
        if section.left_out != sum(lost.left_out for lost in section.lost):
            yield f"section {section.name!r} does not say what it left out"
    if context.text != "".join(section.text for section in context.sections):
        yield "the context's text is not that of its sections"
    if context.tokens != count_tokens(context.text):
        yield "the context's tokens are not those of its text"
    if context.tokens > small.get("max_tokens", context.tokens):
        yield f"the context has {context.tokens} tokens under max_tokens={small['max_tokens']}"
    if bool(losses(context)) != any(section.left_out or section.trimmed for section in context.sections):
        yield "what the context lacks is not told"


def sentences(case: Case) -> Iterator[str]:
    """Check that every message of the trace has a sentence."""
    trace = case.trace
    messages = [trace.title, *trace.notes, *losses(trace.context), *(style.title for style in trace.styles)]
    messages += [text for step in trace.steps for text in (step.title, step.caption)]
    messages += [item.reason for item in trace.items if item.reason]
    messages += [relation.reason for relation in trace.relations if relation.reason]
    declared = [(section.title, section.phrase, section.noun) for section in trace.context.sections]
    messages += [text for texts in declared for text in texts if text]
    yield from (f"the message {each.code!r} is empty" for each in messages if not sentence(each).strip())


def repeatable(case: Case) -> Iterator[str]:
    """Check that a trace is the same again, and after JSON."""
    again = case.retrieve()
    if untimed(again) != untimed(case.trace) or changes(case.trace, again).any:
        yield "the same question gives another trace"
    read = from_json(Trace, to_json(case.trace))
    if read != case.trace:
        yield "the trace is another one after JSON"
    for width in (NARROW, WIDE):
        for step in range(len(read.steps)):
            if layered_graph(read, step, plot_px=width) != layered_graph(case.trace, step, plot_px=width):
                yield f"the picture of step {step} is another one after JSON"


def untimed(trace: Trace) -> Trace:
    """Return the trace without the time that its steps took."""
    return replace(trace, steps=tuple(replace(step, milliseconds=0.0) for step in trace.steps))


def taken_out(case: Case) -> Iterator[str]:
    """Check that what a person takes out leaves the context, or that a strategy with an answer of its own refuses."""
    items = [item for section in case.trace.context.sections for item in section.items]
    for item in (items[0], items[-1]) if items else ():
        try:
            cut = case.bench.explanations.without(case.index, case.trace, [item.ref]).trace
        except InvalidConfig:
            if not hasattr(strategies().named(case.name).strategy, "answer"):
                yield f"{item.mark} cannot be taken out"
            continue
        if item.ref in {each.ref for section in cut.context.sections for each in section.items}:
            yield f"{item.mark} was taken out, and is in the context"
        if cut.context.tokens != count_tokens(cut.context.text):
            yield f"without {item.mark} the context's tokens are not those of its text"


def answers(case: Case) -> Iterator[str]:
    """Check that the answer cites marks of the context, and is the same after it was stored."""
    answer = case.bench.answer(case.index, case.trace)
    marks = {item.mark for section in case.trace.context.sections for item in section.items}
    if not set(answer.citations) <= marks:
        yield f"the answer cites {sorted(set(answer.citations) - marks)[0]}, which the context lacks"
    if answer.grounded != bool(answer.citations):
        yield "the answer is grounded without a citation, or cites and is not"
    path = Path(case.bench.root) / f"contract-{case.name}.json"
    write_run(path, RecordedRun(case.trace, answer))
    run = read_run(path)
    if run.answer is None:
        yield "the stored run has no answer"
        return
    json.dumps(ask_record(run.trace, run.answer), allow_nan=False)
    stored = (run.trace, run.answer, ask_record(run.trace, run.answer))
    if stored != (case.trace, answer, ask_record(case.trace, answer)):
        yield "the stored run is another one"


def declarations(name: str) -> Iterator[str]:
    """Check that presets and equal budgets are options, and that what is declared has words."""
    info = strategies().named(name)
    for preset in info.presets:
        strategy(name, preset.options)
    strategy(name, equal_budget(info, 4000))
    if len({preset.name for preset in info.presets}) != len(info.presets):
        yield "two presets have the same name"
    if info.badge not in BADGES:
        yield f"the badge {info.badge!r} is none of {', '.join(BADGES)}"
    texts = (info.title, info.help, info.differs, info.score, info.badge_title, *(each.title for each in info.presets))
    yield from (f"the message {each.code!r} is empty" for each in texts if not sentence(each).strip())


CHECKS: tuple[Check, ...] = (
    references,
    passages,
    measured,
    budgets,
    option_values,
    sentences,
    repeatable,
    taken_out,
    answers,
)


def problems(case: Case) -> list[str]:
    """Return what does not hold of the case, each with the name of the check."""
    return [f"{check.__name__}: {problem}" for check in CHECKS for problem in check(case)]
