"""What is told apart from prose, and that prose is not taken for it."""

from dataclasses import replace

import pytest

from leanrag_core.indexing.parsing.asides import asides_of, key_of, left_out, outside, toggled
from leanrag_core.indexing.parsing.repeats import all_asides, repeated_in
from leanrag_core.types.corpus import Document, Heading, Span

PROSE = "Varroa mites weaken honey bees, and a weak colony seldom survives the winter."


def document(text: str, name: str = "a.txt", **fields: object) -> Document:
    made = Document(f"doc-{name}", name, name, "text", text, "en")
    return replace(made, **fields)  # type: ignore[arg-type]  # fields of a document


def pieces(text: str, **fields: object) -> list[tuple[str, str]]:
    made = document(text, **fields)
    return [(aside.reason, made.text[aside.start : aside.end]) for aside in asides_of(made)]


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        ("table", "BISLIG 7 1,592 7,412 2 754"),
        ("table", "Total Net Leverage Ratio | 171.4 / 40.2 | 4.26 | n/a"),
        ("table", "name      kind      year\nqueen     caste     2019\ndrone     caste     2020"),
        ("links", "Home | About us | Contact | Sitemap"),
        ("links", "See https://example.org/a/very/long/address?of=a&page=1"),
        ("links", "- [Guide](guide.html) and [Reference](reference.html)"),
        ("formula", "E = m c ^ 2 + p q"),
        ("formula", "$$ \\int_0^1 x^2 dx = 1/3 $$"),
        ("code", "rc = asn1_create_element(cert_def, NULL);"),
        ("code", "--restricted"),
        ("code", "$ pip install -U package_name"),
        ("references", "[12] Heath, T. L. (1908). The Thirteen Books of Euclid. Cambridge University Press, pp. 3-9."),
    ],
)
def test_what_is_no_prose_is_told_with_its_reason(reason: str, text: str) -> None:
    assert pieces(f"{PROSE}\n\n{text}\n\n{PROSE}") == [(reason, text)]


@pytest.mark.parametrize(
    "text",
    [
        PROSE,
        "In 1914, 1915 and 1916 the hives stood near the river.",
        "Audit Committee | Ines Callard | Rupert Vasanth, Dorothea Finlay",  # a table of words is read
        "The option --restricted keeps the shell from changing its directory, as does the flag of that name.",
        "- TLS/SSL",
        "1948 年 12 月 10 日，联合国大会通过并颁布《世界人权宣言》。",
        "The energy E of a body at rest is its mass times the square of the speed of light.",
        "Euclid (around 300 BC) wrote the Elements in Alexandria, according to Proclus.",
    ],
)
def test_prose_is_not_taken_for_anything_else(text: str) -> None:
    assert pieces(f"{text}\n\n{PROSE}") == []


def test_what_follows_the_heading_of_a_list_of_references_is_one() -> None:
    listed = "Euclid: Elements. Alexandria 1482.\n\nHeath, T.: A history. Oxford 1921."
    assert pieces(f"{PROSE}\n\nReferences\n\n{listed}\n\n{PROSE * 12}") == [("references", listed)]


def test_records_of_labelled_values_hold_no_asides() -> None:
    assert pieces("year: 2019\ncount: 1,592\n7 1,592 7,412 2", media_type="csv") == []


def test_boilerplate_that_a_reader_marked_is_a_notice() -> None:
    assert pieces(f"All rights reserved.\n\n{PROSE}", boilerplate=(Span(0, 20),)) == [
        ("notice", "All rights reserved.")
    ]


TERMINAL = "# mkfs.ext4 backups\nDiscarding device blocks: done\nCreating filesystem with 20 inodes\n\nFilesystem ready"


@pytest.mark.parametrize(
    "text", [TERMINAL, "Bees dance", "Setting up hive (2.02) ...\n/srv/hive does not exist, run apiary --init [y/n]!"]
)
def test_preformatted_text_is_code(text: str) -> None:
    assert pieces(f"{text}\n\n{PROSE}", preformatted=(Span(0, len(text)),)) == [("code", text)]
    assert ("code", text) not in pieces(f"{text}\n\n{PROSE}")


@pytest.mark.parametrize(
    "text",
    [
        PROSE.replace(" and", "\nand"),
        f"{PROSE}\n\nShort line\n\nIt's a well-known\nfact that bees dance.",
        "蜜蜂是一种昆虫，\n住在蜂箱里。\n\n它们采集花蜜，酿造蜂蜜。",
    ],
)
def test_preformatted_prose_is_read(text: str) -> None:
    assert pieces(text, preformatted=(Span(0, len(text)),)) == []


def test_lines_that_documents_share_repeat_and_sentences_are_read_once() -> None:
    shared = "Bees are kept in hives all over the world."
    own = ["Clover flowers in June.", "Willow flowers in March.", "Heather flowers in August.", "Lime is a tree."]
    texts = [f"Skip to content\n\n{PROSE}\n\n{each}" for each in own]
    texts += [f"{shared}\n\nOnly here {n}." for n in "abcdef"]
    documents = [document(text, f"{n}.txt") for n, text in enumerate(texts)]
    repeated = repeated_in(documents)
    found = [[each.text[a.start : a.end] for a in own] for each, own in zip(documents, repeated, strict=True)]
    assert found[0] == ["Skip to content"]  # the first that has the sentence keeps it
    assert found[1:4] == [[f"Skip to content\n\n{PROSE}"]] * 3
    assert found[4:] == [[shared]] * 6  # more than half of the documents have it: a notice
    assert repeated_in(documents[:2]) == [(), ()]


def test_a_heading_repeats_only_where_half_of_the_documents_have_it() -> None:
    texts = [f"DESCRIPTION\n\nThing {n} is made of {n * 'x'}y wood." for n in range(4)] + [
        f"Thing {n}." for n in range(9)
    ]
    documents = [
        document(text, f"{n}.txt", headings=(Heading("DESCRIPTION", 1, 0, 11),)) for n, text in enumerate(texts)
    ]
    assert repeated_in(documents)[0] == ()
    assert [aside.end for aside in repeated_in(documents[:5])[0]] == [11]


def test_a_piece_that_is_read_anyway_keeps_the_text_and_changes_the_id_and_back() -> None:
    before = document(f"{PROSE}\n\nBISLIG 7 1,592 7,412 2 754")
    [aside] = asides_of(before)
    key = key_of(before.text[aside.start : aside.end])
    read = toggled(before, [key])
    assert (read.text, read.read_anyway, left_out(read, asides_of(read))) == (before.text, (key,), ())
    assert asides_of(read) == (aside,)
    assert read.id != toggled(read, [key]).id
    assert toggled(read, [key]) == replace(before, id=toggled(read, [key]).id)


def test_a_sentence_is_outside_while_less_than_half_of_it_is_covered() -> None:
    asides = asides_of(document("BISLIG 7 1,592 7,412 2 754"))
    assert [outside(asides, *span) for span in ((0, 26), (20, 30), (20, 60), (30, 40))] == [False, False, True, True]
    assert outside((), 0, 5)


def test_what_repeats_stands_between_the_documents_own_asides() -> None:
    menu = "Skip to content\n\nHome | About us | Contact\n\nDaily news"
    documents = [document(f"{menu}\n\nStory {n * 'x'}y goes on.", f"{n}.txt") for n in range(3)]
    found = all_asides(documents[1], repeated_in(documents)[1])
    assert [(each.reason, documents[1].text[each.start : each.end]) for each in found] == [
        ("repeated", "Skip to content"),
        ("links", "Home | About us | Contact"),
        ("repeated", "Daily news"),
    ]
