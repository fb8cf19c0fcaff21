from leanrag_core.text.sentences import split_sentences


def test_a_closing_quotation_mark_belongs_to_the_sentence_before_it() -> None:
    assert split_sentences("费祎说：“万里之行，始于此桥。”万里桥由此得名。") == [
        "费祎说：“万里之行，始于此桥。”",
        "万里桥由此得名。",
    ]
