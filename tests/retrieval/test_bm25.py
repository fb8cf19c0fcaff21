"""BM25 against its formula."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from leanrag_core import Workbench
from leanrag_core.retrieval.reranking import retrieved
from leanrag_core.text import tokens
from leanrag_core.text.words import lexical_tokens
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.trace import Trace
from leanrag_core.workbench import questions

TEXTS = {"a.txt": b"Bees make honey.", "b.txt": b"Honey is sweet, honey is gold.", "c.txt": b"Mites harm bees."}


def test_scores_are_those_of_the_formula(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    index = bench.build(bench.add_documents("words", list(TEXTS.items())).corpus_id, IndexConfig(cluster_size=2))
    bench.parts.build(index, "lexical")
    trace = bench.retrieve(index, "honey bees", "bm25")
    documents = [lexical_tokens(index.chunk(row).text) for row in range(3)]
    mean = sum(map(len, documents)) / 3
    scores = []
    for words in documents:
        score = 0.0
        for word in ("honey", "bees"):
            n = sum(word in other for other in documents)
            idf = math.log(1 + (3 - n + 0.5) / (n + 0.5))
            times = words.count(word)
            # Lucene leaves out the factor k1 + 1, which changes no order.
            score += idf * times / (times + 1.2 * (0.25 + 0.75 * len(words) / mean))
        scores.append(score)
    assert list(trace.ranked_chunks) == np.argsort(-np.array(scores), kind="stable").tolist()
    assert [passage.score for passage in trace.passages] == pytest.approx(sorted(scores, reverse=True), abs=1e-5)
    assert bench.retrieve(index, "zebra", "bm25").passages == ()


def test_a_question_in_a_script_that_the_embedding_does_not_know_is_told_so(tmp_path: Path) -> None:
    bench = Workbench.default(tmp_path)
    index = bench.build(bench.add_documents("words", list(TEXTS.items())).corpus_id, IndexConfig(cluster_size=2))
    notes = {
        question: bench.retrieve(index, question).notes
        for question in ("蜜蜂做什么？", "Que font les abeilles ?", "bees?")
    }
    told = [question for question, said in notes.items() if "questions.other_script" in {note.code for note in said}]
    assert told == ["蜜蜂做什么？"]


def test_reading_the_vocabulary_is_no_time_of_a_step(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Workbench.default(tmp_path)
    index = bench.build(bench.add_documents("words", list(TEXTS.items())).corpus_id, IndexConfig(cluster_size=2))
    read: list[int] = []

    def noting(*given: Any) -> Trace:
        read.append(tokens._encoding.cache_info().currsize)
        return retrieved(*given)

    monkeypatch.setattr(questions, "retrieved", noting)
    tokens._encoding.cache_clear()
    assert bench.retrieve(index, "honey bees").context.text
    assert read == [1]
