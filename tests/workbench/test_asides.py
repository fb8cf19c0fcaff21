"""What is no prose stays in passages, and is read once a person asks for it."""

from pathlib import Path

from leanrag_core import IndexConfig, Workbench
from leanrag_core.indexing.parsing.asides import key_of

MENU = "Nosema | Varroa | Chalkbrood | Foulbrood"
TEXT = f"Honey bees live in hives and gather nectar.\n\n{MENU}\n\nA queen lays eggs in the combs of the hive."


def test_a_menu_is_a_passage_without_entities_until_it_is_read_anyway(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    corpus = bench.add_documents("Bees", [("bees.txt", TEXT.encode())]).corpus_id
    [document] = bench.corpora.documents(corpus)

    def built() -> tuple[set[str], tuple[str, ...]]:
        index = bench.build(corpus, IndexConfig(cluster_size=3))
        assert MENU in index.chunk(0).text
        return set(index.layers[0].entities["name"].to_pylist()), index.document(0).read_anyway

    without, _ = built()
    assert "queen" in without
    assert without.isdisjoint(["Nosema", "Varroa", "Chalkbrood", "Foulbrood"])
    [aside] = bench.corpora.asides(corpus, document.id)
    bench.corpora.read_anyway(corpus, document.id, [key_of(MENU)])
    names, kept = built()
    assert TEXT[aside.start : aside.end] == MENU
    assert kept == (key_of(MENU),)
    assert names > without
    assert not names.isdisjoint(["Nosema", "Varroa", "Chalkbrood", "Foulbrood"])


def test_preformatted_text_is_a_passage_without_entities(tmp_path: Path) -> None:
    bench = Workbench(tmp_path)
    listing = "# mkfs Nosema\nDiscarding Varroa blocks: done\nWriting Foulbrood superblocks: done"
    page = f"<p>Honey bees live in hives and gather nectar.</p><pre>{listing}</pre>".encode()
    corpus = bench.add_documents("Bees", [("bees.html", page)]).corpus_id
    [summary] = bench.corpora.documents(corpus)
    document = bench.corpora.document(corpus, summary.id)
    index = bench.build(corpus, IndexConfig(cluster_size=3))
    assert listing in index.chunk(0).text
    assert index.document(0) == document
    assert [document.text[span.start : span.end] for span in document.preformatted] == [listing]
    names = " ".join(index.layers[0].entities["name"].to_pylist())
    assert "hives" in names
    assert not any(name in names for name in ("Nosema", "Varroa", "Foulbrood", "superblocks"))
