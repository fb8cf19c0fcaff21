"""Sentences on the disk, and merging in several passes, give what memory and one pass give."""

from pathlib import Path

import pyarrow as pa
import pytest

from leanrag_core.indexing.chunking import chunk_documents
from leanrag_core.indexing.extraction import sentence_files
from leanrag_core.indexing.extraction.builtin import BuiltinExtractor
from leanrag_core.indexing.extraction.sentence_files import SentenceFiles
from leanrag_core.indexing.extraction.sentences import Link, ReadSentence, Sighting
from leanrag_core.indexing.resolution import Resolution, resolve
from leanrag_core.types.corpus import Document
from leanrag_core.types.extraction import Extraction, Mention, RelationMention

TEXTS = {
    "mill.txt": "Ada Lovelace bought the mill of Ashford. Lovelace sold it to Charles Babbage. The mill burned down.",
    "empty.txt": "* * *",
    "river.txt": "The International Grain Office (IGO) of Ashford weighs grain. The IGO is led by Charles Babbage.",
    "fluss.txt": "Die Mühle am Fluss gehört der Gemeinde Altdorf. In der Gemeinde Altdorf mahlt die Mühle das Korn.",
}
DOCUMENTS = [
    Document(f"doc-{name}", name, name, "text", text, language="de" if name == "fluss.txt" else "en")
    for name, text in TEXTS.items()
]


def sentence(row: int, number: int) -> ReadSentence:
    ends = (Sighting("Ada", "ada", "person", weight=1.25, human=True), Sighting("mill", "mill", "concept", head=3))
    text = f"Ada \u2028 {row}\nbought a mill, \ud83d {number}."
    return ReadSentence(
        row, 0, 9, text, ends, (Link(0, 1, "verb", 4.0, "bought"),), (("IGO", "x"),), ("it",), 2, (("a", 1),)
    )


@pytest.mark.parametrize("most", [0, 60, 10_000])
def test_sentences_come_back_equal_wherever_they_were(most: int) -> None:
    rows = {1: [sentence(1, 0), sentence(1, 1)], 0: [sentence(0, 0)], 3: [sentence(3, 0)], 2: []}
    kept = SentenceFiles(4, most)
    for row, sentences in rows.items():
        kept.put(row, sentences)
    assert kept.on_disk == (most < 10_000)
    assert {row: kept.of(row) for row in rows} == rows
    assert list(kept) == [each for row in sorted(rows) for each in rows[row]]
    assert list(kept) == list(kept)
    assert len(kept) == 4
    assert kept[-1] == sentence(3, 0)


def test_what_is_extracted_is_the_same_from_the_disk_and_in_every_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    chunks = chunk_documents(DOCUMENTS, max_tokens=16, overlap_tokens=4)
    in_memory = BuiltinExtractor().extract(DOCUMENTS, chunks, lambda done: None)
    monkeypatch.setattr(sentence_files, "MOST_IN_MEMORY", 0)
    on_disk = BuiltinExtractor().extract(DOCUMENTS, chunks, lambda done: None)
    assert not isinstance(on_disk, list)
    assert list(on_disk) == in_memory
    assert list(on_disk) == in_memory
    assert any(extraction.relations for extraction in in_memory)
    turned = BuiltinExtractor().extract(DOCUMENTS, chunks[::-1], lambda done: None)
    assert list(turned) == in_memory[::-1]


def of_graph(resolution: Resolution) -> list[object]:
    tables = [resolution.graph.entities, resolution.graph.relations]
    return [*(table.to_pylist() for table in tables), resolution.drops, list(resolution.aliases.items())]


@pytest.mark.parametrize("heuristic", [True, False])
@pytest.mark.parametrize("n_parts", [2, 3, 16])
def test_names_merged_in_several_passes_give_the_same_graph(n_parts: int, heuristic: bool) -> None:
    chunks = chunk_documents(DOCUMENTS, max_tokens=16, overlap_tokens=4)
    extractions = list(BuiltinExtractor().extract(DOCUMENTS, chunks, lambda done: None))
    first, last = chunks[0].id, chunks[-1].id
    extractions += [
        Extraction(last, (Mention("...", "x", "Nothing.", last), Mention("ASHFORD", "place", "A place.", last)), ()),
        Extraction(
            first,
            (),
            (
                RelationMention("Nobody", "Ashford", "Nobody lives there.", first, ("live",), 2.0),
                RelationMention("ashford", "Ashford.", "Itself.", first),
                RelationMention("Nobody", "?!", "A mark.", first),
            ),
        ),
    ]
    whole = resolve(extractions, chunks, heuristic=heuristic)
    parted = resolve(extractions, chunks, heuristic=heuristic, n_parts=n_parts)
    assert of_graph(parted) == of_graph(whole)
    assert parted.graph.entities.equals(whole.graph.entities)
    assert isinstance(parted.graph.relations, pa.Table)
    assert len(whole.drops) == 3


def test_the_file_of_sentences_is_gone_when_it_is_closed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence_files.tempfile, "tempdir", str(tmp_path))
    kept = SentenceFiles(1, 0)
    kept.put(0, [sentence(0, 0)])
    assert kept.on_disk
    assert list(tmp_path.iterdir()) == []
