import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leanrag_core.indexing.aggregation.cluster_terms import Document, PhraseTable, count_phrases
from leanrag_core.indexing.aggregation.phrases import BREAK, Lexicon, folded, sentences
from tests.indexing.aggregation import phrase_reference

PIECES = [
    "red ",
    "Red ",
    "clover ",
    "clovers ",
    "Keswick ",
    "Lake ",
    "lakes ",
    "the ",
    "of ",
    "honey",
    " bee",
    ", ",
    ". ",
]


def tables(texts: list[str], names: list[str]) -> tuple[PhraseTable, list[list[int]]]:
    """Return the phrase table of some sentences and names, and the phrases of each sentence and of each name."""
    lexicon = Lexicon()
    sentences_tokens = [lexicon.tokens([number])[0] for number in lexicon.read(texts)]
    names_tokens = [lexicon.tokens_of(name) for name in names]
    folded_names = [tuple(lexicon.fold[word] for word in name if word != BREAK) for name in names_tokens]
    documents = [
        *(Document(tokens) for tokens in sentences_tokens),
        *(Document(tokens, with_names=False) for tokens in names_tokens),
    ]
    counted = count_phrases(documents, folded_names, lexicon)
    rows = counted.incidence
    return counted.phrases, [
        sorted(rows.indices[rows.indptr[row] : rows.indptr[row + 1]].tolist()) for row in range(len(documents))
    ]


def long_names(names):
    keys = [tuple(map(folded, phrase_reference.WORD.findall(name))) for name in names]
    return frozenset(key for key in keys if 2 <= len(key) <= 5), frozenset(key for key in keys if 1 <= len(key) <= 5)


@settings(max_examples=150)
@given(
    st.lists(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=14).map("".join), min_size=1, max_size=6, unique=True
    ),
    st.lists(st.lists(st.sampled_from(PIECES[:9]), min_size=1, max_size=5).map("".join), min_size=1, max_size=5),
)
def test_phrases_of_a_corpus_are_those_of_its_sentences_one_by_one(texts: list[str], names: list[str]) -> None:
    table, phrases_of_text = tables(texts, names)
    long, every = long_names(names)
    phrases, written, expected = phrase_reference.numbered(texts, long, names)
    assert [table.folded(row) for row in range(len(table))] == phrases
    assert [table.surface(row) for row in range(len(table))] == written
    assert phrases_of_text == [sorted(set(rows)) for rows in expected]
    assert table.is_name.tolist() == [phrase in every for phrase in phrases]
    assert table.single.tolist() == [len(phrase) == 1 for phrase in phrases]


@settings(max_examples=400)
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "B",
                "Dr",
                "etc",
                "e.g",
                ".",
                ".",
                "!",
                "?",
                "。",
                "\n",
                " ",
                " ",
                "|",
                " | ",
                '"',
                "”",
                "(",
                "1",
                "_",
                "中",
            ]
        ),
        max_size=14,
    ).map("".join)
)
def test_sentences_end_where_the_plain_rule_ends_them(text: str) -> None:
    assert sentences(text) == phrase_reference.sentences(text)


def test_initials_and_titles_do_not_end_a_sentence() -> None:
    text = "Dr. J. Smith keeps bees. He sells honey! Does he?"
    assert sentences(text) == ["Dr. J. Smith keeps bees.", "He sells honey!", "Does he?"]


@pytest.mark.parametrize(
    ("word", "form"),
    [("Mites", "mite"), ("colonies", "colony"), ("Keswick's", "keswick"), ("bus", "bus"), ("glass", "glass")],
)
def test_plurals_and_possessives_fold_together(word: str, form: str) -> None:
    assert folded(word) == form


def test_a_fragment_of_one_name_is_no_phrase() -> None:
    table, phrases_of_text = tables(["Trains reach New York City daily."], ["New York City"])
    texts = {" ".join(table.folded(row)) for row in phrases_of_text[0]}
    assert "new york city" in texts
    assert not {"york city", "new york", "york"} & texts


def test_phrases_do_not_cross_commas_or_hold_stop_words() -> None:
    table, phrases_of_text = tables(["Honey, wax of hives"], [])
    assert {" ".join(table.folded(row)) for row in phrases_of_text[0]} == {"honey", "wax", "hive"}


def test_a_sentence_is_read_once_and_keeps_its_number() -> None:
    lexicon = Lexicon()
    assert lexicon.read(["One bee.", "Two bees.", "One bee."]) == [0, 1, 0]
    flat, lengths = lexicon.tokens([1, 0])
    assert lengths == [4, 4]  # two words, the full stop, the end
    assert [lexicon.surfaces[word] for word in flat if word != BREAK] == ["Two", "bees", "One", "bee"]
    assert lexicon.fold[flat[1]] == lexicon.fold[flat[5]]
