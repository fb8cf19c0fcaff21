"""Small multiples as one picture."""

from leanrag_core.figures.card_row import GAP, MARGIN, Card, card_row
from leanrag_core.figures.drawing import Drawing, circle, text_width

FACTS = (("tokens", "3,864"), ("gold found", "1 / 3"))


def card(title: str, height: int, *, is_used: bool = False) -> Card:
    drawing = Drawing(100, height, "a tree", (circle(50, height - 10, 5, title="seed"),))
    return Card(title, "in use" if is_used else "", drawing, FACTS, is_used)


def test_cards_stand_beside_each_other_and_their_graphs_end_on_one_line() -> None:
    drawing = card_row([card("N 5", 80), card("N 10", 120, is_used=True)], title="Who?", finding="Nothing changes.")
    assert drawing.width == 2 * MARGIN + 200 + GAP
    discs = [shape for shape in drawing.shapes if shape.tag == "circle"]
    tops = [float(str(disc.attributes["transform"]).rstrip(")").split()[1]) for disc in discs]
    assert [top + float(disc.attributes["cy"]) for top, disc in zip(tops, discs, strict=True)] == [192, 192]
    texts = [shape.text for shape in drawing.shapes if shape.tag == "text"]
    assert texts[:4] == ["Who?", "Nothing changes.", "N 5", "tokens"]
    assert texts.count("1 / 3") == 2
    assert "in use" in texts


def test_a_long_question_is_cut_within_the_picture_and_no_markup() -> None:
    drawing = card_row([card("N <b>5</b>", 80)], title="为什么" * 40, finding="x" * 400)
    for shape in drawing.shapes[:2]:
        assert shape.text.endswith("…")
        assert text_width(shape.text, float(shape.attributes["font-size"])) <= drawing.width - 2 * MARGIN
    assert "N &lt;b&gt;5" in drawing.as_svg()
