"""What do small models on this machine find and answer? Model files, in both forms of the prompts, beside the built-in
engine.

    python -m benchmarks.small_models MODEL.gguf ... [--passages 12] [--questions 15] [--json FILE]

Passages: of a document the first chunk of 160 tokens that the reference graph of its sample corpus takes two relations
or more from; corpora in turn. What is given is scored as `evaluate --extraction` does. Questions: those with short gold
answers, corpora in turn, about the built-in graph, answered from LeanRAG's context with N 5 and C 2 and graded by
matching words. Replies are read, repeated and given up as in a build.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.speed_tables import markdown
from leanrag_core.evaluation.answers import DECLINED, GRADES, RIGHT, grade
from leanrag_core.evaluation.extraction import EMBEDDING, GivenGraph, PassageGold, extraction_score, passage_gold
from leanrag_core.evaluation.gold import GoldQuestion
from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.llm import LLMExtractor
from leanrag_core.types.config import BUILTIN, IndexConfig
from leanrag_core.types.corpus import Chunk, Document
from leanrag_core.types.extraction import Extraction
from leanrag_core.types.index import Index
from leanrag_core.types.settings import FULL, SHORT, Settings
from leanrag_core.workbench import Workbench
from leanrag_core.workbench.samples import sample_id

SAMPLES = ("agriculture", "cs", "legal", "mix")
_PASSAGE = 160  # tokens
_LEAST = 2  # relations of a passage
_OPTIONS: dict[str, Any] = {"top_n": 5, "top_c": 2}
_REPLY = 700  # tokens at most

Passage = tuple[Document, Chunk, PassageGold]
Question = tuple[Index, GoldQuestion]
Item = TypeVar("Item")


def main() -> int:
    """Measure, print two tables, and write the figures where --json says."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--passages", type=int, default=12)
    parser.add_argument("--questions", type=int, default=15)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="leanrag-small-") as home:
        bench = Workbench.default(Path(home))
        passages = list(islice(_in_turn([_passages(bench, name) for name in SAMPLES]), options.passages))
        questions = list(islice(_in_turn([_questions(bench, name) for name in SAMPLES]), options.questions))
        rows = [_builtin(bench, passages, questions)]
        print(json.dumps(rows[0]), flush=True)
        for path in options.models:
            name = f"file:{bench.model_files.add(path).name}"
            for form in (SHORT, FULL):
                rows.append(_model(bench, name, form, passages, questions))
                print(json.dumps(rows[-1]), flush=True)
        bench.model_files.servers.close()
    print(extraction_table(rows), answer_table(rows), sep="\n\n")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _in_turn(lists: Sequence[Iterator[Item]]) -> Iterator[Item]:
    """Yield the first of each, then the second, and so on."""
    return (item for item in chain.from_iterable(zip_longest(*lists)) if item is not None)


def _passages(bench: Workbench, sample: str) -> Iterator[Passage]:
    bench.corpora.summary(sample_id(sample))  # a sample is read where it is not there yet
    documents = bench.corpora.all_documents(sample_id(sample))
    reference = bench.references.of(documents)
    for document in documents:
        for chunk in chunk_documents([document], max_tokens=_PASSAGE, overlap_tokens=0):
            gold = passage_gold(chunk.text, reference)
            if len(gold.relations) >= _LEAST:
                alone = Document(chunk.id, document.name, "", "text", chunk.text, language="en")
                (passage,) = chunk_documents([alone], max_tokens=2 * _PASSAGE, overlap_tokens=0)
                yield alone, passage, gold
                break


def _questions(bench: Workbench, sample: str) -> Iterator[Question]:
    index = bench.build(sample_id(sample), IndexConfig())
    return ((index, question) for question in bench.corpora.samples.questions(sample_id(sample)) if question.answers)


def _builtin(bench: Workbench, passages: Sequence[Passage], questions: Sequence[Question]) -> dict[str, Any]:
    return {
        "model": BUILTIN,
        "form": "",
        **_extracted(BuiltinExtractor(), passages, bench),
        **_answered(bench, questions),
    }


def _model(
    bench: Workbench, name: str, form: str, passages: Sequence[Passage], questions: Sequence[Question]
) -> dict[str, Any]:
    bench.settings.save(Settings(retries=1, max_reply_tokens=_REPLY, prompt_form=form, answer_model=name))
    models = bench.models.make()
    language = models.language(name)
    if language is None:
        raise ValueError(name)
    extracted = _extracted(LLMExtractor.of(language, IndexConfig(model=name)), passages, bench)
    usage = models.meter.read().usage
    speed = {"calls": usage.calls, "prompt_tokens": usage.prompt_tokens, "written_tokens": usage.completion_tokens}
    answered = _answered(bench, questions) if form == SHORT else {}  # both forms ask for answers alike
    return {"model": name, "form": form, **extracted, **speed, **answered}


def _extracted(
    extractor: BuiltinExtractor | LLMExtractor, passages: Sequence[Passage], bench: Workbench
) -> dict[str, Any]:
    """Sum what the passages should give, what is given, and what of both is the same, names compared as normalised and
    by embedding."""
    embedding = bench.models.embedding(BUILTIN, "")
    figures: dict[str, float] = {"passages": len(passages), "empty": 0, "seconds": 0.0}
    for document, chunk, gold in passages:
        started = time.perf_counter()
        found = _found(extractor, document, chunk)
        figures["seconds"] += time.perf_counter() - started
        figures["empty"] += not found.mentions
        given = GivenGraph(
            tuple((mention.name, mention.type) for mention in found.mentions),
            tuple((each.source, each.target, each.kind) for each in found.relations),
        )
        score = extraction_score(given, gold.entities, gold.relations, embedding=embedding)
        for kind, share in (
            ("entities", score.entities),
            ("relations", score.relations),
            ("near_entities", score.match(EMBEDDING).entities),
        ):
            for field, value in vars(share).items():
                figures[f"{kind}_{field}"] = figures.get(f"{kind}_{field}", 0) + value
    return figures


def _found(extractor: BuiltinExtractor | LLMExtractor, document: Document, chunk: Chunk) -> Extraction:
    if isinstance(extractor, LLMExtractor):
        return extractor.extract_chunk(chunk)  # a passage that gives nothing is a figure here, no error
    (found,) = extractor.extract([document], [chunk], lambda n: None)
    return found


def _answered(bench: Workbench, questions: Sequence[Question]) -> dict[str, Any]:
    grades: dict[str, Any] = dict.fromkeys(GRADES, 0)
    words, seconds = 0, 0.0
    for index, question in questions:
        started = time.perf_counter()
        answer = bench.ask(index, question.question, "leanrag", **_OPTIONS)
        seconds += time.perf_counter() - started
        words += len(answer.text.split())
        grades[grade(question, answer.text) or DECLINED] += 1
    return {"questions": len(questions), **grades, "answer_words": words, "answer_seconds": round(seconds, 1)}


def extraction_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each model and form: what is found of the reference, and in which time."""
    heads = ("model", "prompts", "passages without entities", "entities found", "nearly", "of those given right",
             "relations found", "seconds a passage", "tokens a second")  # fmt: skip
    return markdown(heads, (_extraction_line(row) for row in rows))


def _extraction_line(row: dict[str, Any]) -> tuple[str, ...]:
    written, seconds = row.get("written_tokens", 0), row["seconds"]
    return (
        row["model"].removeprefix("file:"),
        row["form"] or "–",
        f"{row['empty']} of {row['passages']}",
        f"{row['entities_hit']} of {row['entities_wanted']}",
        f"{row['near_entities_hit']}",
        f"{row['entities_right']} of {row['entities_given']}",
        f"{row['relations_hit']} of {row['relations_wanted']}",
        f"{seconds / row['passages']:.2g}",
        f"{written / seconds:.1f}" if written else "–",
    )


def answer_table(rows: Sequence[dict[str, Any]]) -> str:
    """Return a line for each model and form: how many answers are right, and in which time."""
    heads = ("model", "right", "wrong", "declined", "words an answer", "seconds an answer")
    return markdown(
        heads,
        (
            (
                row["model"].removeprefix("file:"),
                *(f"{row[each]}" for each in (RIGHT, "wrong", DECLINED)),
                f"{row['answer_words'] / row['questions']:.0f}",
                f"{row['answer_seconds'] / row['questions']:.2g}",
            )
            for row in rows
            if "questions" in row
        ),
    )


if __name__ == "__main__":
    raise SystemExit(main())
