import pytest

from leanrag_core.indexing.parsing.language import detect_language


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "Bees dance in the hive and tell their sisters where the nectar lies."),
        ("de", "Die Bienen tanzen im Stock und zeigen ihren Schwestern, wo der Nektar liegt."),
        ("fr", "Les abeilles dansent dans la ruche et montrent où se trouve le nectar."),
        ("es", "Las abejas bailan en la colmena y muestran dónde está el néctar."),
        ("ru", "Пчёлы танцуют в улье и показывают, где находится нектар."),
        ("zh", "蜜蜂在蜂巢里跳舞，告诉同伴花蜜在哪里。"),
        ("ja", "蜂は巣の中で踊り、仲間に蜜のありかを教える。"),
        ("ko", "벌은 벌집에서 춤을 추며 꿀이 어디 있는지 알려 준다."),
    ],
)
def test_a_sentence_is_enough_to_detect_its_language(language: str, text: str) -> None:
    assert detect_language(text) == language


_TABLES = ["id,name,value\n1,alpha,20\n2,beta,30\n3,gamma,40\n", "city,temp\nOslo,4\nRoma,18\nPrag,9\nKiel,7\nBern,6"]


@pytest.mark.parametrize("text", ["", "42", "... !?", "Bees dance.", "x = 1", *_TABLES])
def test_too_little_text_has_no_detected_language(text: str) -> None:
    assert detect_language(text) == "und"


def test_a_few_ideographs_are_enough() -> None:
    assert detect_language("蜂は踊る") == "ja"


def test_the_first_two_thousand_characters_decide() -> None:
    english = "The bees of the hive dance for a reason that is known to the keeper. " * 40
    assert detect_language(english + "Die Bienen tanzen im Stock. " * 400) == "en"
