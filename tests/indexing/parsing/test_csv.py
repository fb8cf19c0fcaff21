import pytest

from tests.indexing.parsing.conftest import Read


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_each_row_is_a_paragraph_of_columns_and_values(read: Read, delimiter: str) -> None:
    table = "\n".join(delimiter.join(row) for row in [("name", "legs"), ("bee", "6"), ("spider", "8")])
    document = read("a.csv", table)
    assert document.text == "name: bee\nlegs: 6\n\nname: spider\nlegs: 8"
    assert document.media_type == "csv"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_every_kind_of_line_end_is_read(read: Read, end: str) -> None:
    assert read("a.csv", end.join(["name,legs", "bee,6", ""])).text == "name: bee\nlegs: 6"


def test_a_quoted_cell_may_hold_delimiters_quotes_and_lines(read: Read) -> None:
    assert read("a.csv", 'name,said\nAnn,"no, ""never""\nagain"\n').text == 'name: Ann\nsaid: no, "never"\nagain'


def test_quotes_that_first_come_late_in_the_file_are_understood(read: Read) -> None:
    table = "name,said\n" + "Ann,hello there\n" * 700 + 'Bob,"he said ""no"", then left"\n'
    assert read("a.csv", table).text.endswith('name: Bob\nsaid: he said "no", then left')


def test_an_apostrophe_is_a_letter_not_a_quote(read: Read) -> None:
    assert (
        read("a.csv", "name,said\nAnn,'tis\nBob,it's fine\n").text
        == "name: Ann\nsaid: 'tis\n\nname: Bob\nsaid: it's fine"
    )


def test_a_formula_is_text(read: Read) -> None:
    assert read("a.csv", 'name,sum\nbee,"=1+1"\n').text == "name: bee\nsum: =1+1"


def test_empty_cells_and_rows_are_left_out_and_nameless_columns_are_numbered(read: Read) -> None:
    assert read("a.csv", "name,,legs\nbee,yellow,\n,,\n\nant,,6,extra\n").text == (
        "name: bee\ncolumn 2: yellow\n\nname: ant\nlegs: 6\ncolumn 4: extra"
    )


def test_a_lone_row_is_text(read: Read) -> None:
    assert read("a.tsv", "bees\tdance\n").text == "bees | dance"


def test_the_detected_encoding_is_noted(read: Read) -> None:
    document = read("a.csv", "name,legs\nbee é,6\n".encode("utf-16"))
    assert (document.text, document.notes) == ("name: bee é\nlegs: 6", ("Read as UTF-16.",))


def test_cells_may_hold_other_delimiters_than_that_of_the_table(read: Read) -> None:
    assert read("a.csv", "name;price\nbee;1,5\nant;2\n").text == "name: bee\nprice: 1,5\n\nname: ant\nprice: 2"
    assert (
        read("a.csv", "Prices\nname;price\nbee;1,5\n").text
        == "Prices: name\ncolumn 2: price\n\nPrices: bee\ncolumn 2: 1,5"
    )
