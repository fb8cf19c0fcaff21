"""A retrieval and its answer, line by line."""

from leanrag_core.messages.catalog import sentence
from leanrag_core.retrieval.settings import settings_words
from leanrag_core.types.trace import Answer, Trace
from leanrag_core.types.visible import visible


def print_run(trace: Trace, answer: Answer | None) -> None:
    """Print the settings, the steps, the notes, the passages with their marks, and the answer, on stdout."""
    print(f"{'settings':>9}: {visible(sentence(settings_words(trace.strategy, trace.parameters)))}")
    for step in trace.steps:
        print(f"{step.name:>9}: {visible(sentence(step.caption))}")
    for note in trace.notes:
        print(f"{'note':>9}: {visible(sentence(note))}")
    mark_of = {item.ref: item.mark for section in trace.context.sections for item in section.items}
    for passage in trace.passages:
        if source := passage.source:
            why = f", {sentence(passage.reason)}" if passage.reason else ""
            place = f"{visible(source.document)} [{source.start}:{source.end}]"
            print(f"{mark_of.get(passage.id, ''):>9}: {place}{visible(why)}")
    if answer:
        print(f"\n{'Extractive answer' if answer.extractive else 'Answer'}: {visible(answer.text)}")
        for part in answer.nearest_parts:
            print(f"{'nearest':>9}: {visible(part.text)} [{', '.join(part.marks)}]")
