import pytest

from leanrag_core.models.reasoning import ReasoningFilter, has_reasoning, reply_text, without_reasoning

JSON = '{"entities": [], "relations": []}'


@pytest.mark.parametrize(
    "text",
    [
        f"<think>\nThe user wants a list.\n</think>\n\n{JSON}",
        f"<think></think>{JSON}",
        f"\n <thinking>hm</thinking>{JSON}",
        f"<Reasoning>\nhm\n</Reasoning>\n{JSON}",
        f"[THINK]hm[/THINK]{JSON}",
        f"◁think▷hm◁/think▷{JSON}",
        f"<seed:think>hm</seed:think>{JSON}",
        f"<|START_THINKING|>hm<|END_THINKING|>{JSON}",
        f"Okay, the user wants a list.\nMaybe two.\n</think>\n\n{JSON}",
        f"Okay, a list.</think>{JSON}",
        f"I put <think> in front, he said.\n</think>\n{JSON}",
        f"<think>first</think>\n<think>second</think>\n{JSON}",
        f"<think>I must close with </think> and then give JSON.\n</think>\n{JSON}",
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final<|message|>{JSON}<|return|>",
        f"<|channel|>analysis<|message|>hm<|end|><|start|>assistant<|channel|>final <|constrain|>json<|message|>{JSON}",
    ],
)
def test_thoughts_are_taken_out_and_the_reply_stays(text: str) -> None:
    assert without_reasoning(text).strip() == JSON


@pytest.mark.parametrize(
    "text",
    [
        "<think>\nThe user wants a list, and so",
        "<thinking> hm",
        "<|channel|>analysis<|message|>hm, and so",
        "<think>hm</think>",
    ],
)
def test_thoughts_that_never_end_leave_nothing(text: str) -> None:
    assert without_reasoning(text).strip() == ""


@pytest.mark.parametrize(
    "text",
    [
        "Reasoning models write <think> first and </think> last [C1].",
        "They put it between <think> and </think>\nand answer below.",
        "The tag </think> closes the thoughts; `<think>` opens them.",
        "```\n<think>\nhm\n</think>\n```\nis how it looks [C2].",
        '{"description": "The tags <think> and </think> mark thoughts."}',
        "I think, therefore I am.",
        JSON,
    ],
)
def test_a_reply_that_is_about_the_tags_stays_as_it_is(text: str) -> None:
    assert without_reasoning(text) == text


def test_thoughts_between_two_remarks_leave_both() -> None:
    assert without_reasoning("Well.\n<think>\nhm\n</think>\nThe mill.") == "Well.\nThe mill."


def test_a_content_in_parts_is_read_without_the_parts_of_reasoning() -> None:
    parts = [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": JSON}]
    assert reply_text(parts, None, as_json=True) == JSON
    assert reply_text(None, None, as_json=True) == ""


def test_a_reply_that_a_server_took_for_reasoning_is_read_there_and_reasoning_alone_is_no_reply() -> None:
    assert reply_text("", f"hm\n</think>\n{JSON}", as_json=True).strip() == JSON
    assert reply_text(None, JSON, as_json=True) == JSON
    assert reply_text("", "Okay, the user wants a sentence.", as_json=False) == ""
    assert reply_text("", "Okay, the user wants JSON.", as_json=True) == ""
    assert reply_text("The mill.", "hm", as_json=False) == "The mill."


def test_a_model_is_known_to_think_by_either_form() -> None:
    assert has_reasoning("<think>hm</think>x", None)
    assert has_reasoning("x", "hm")
    assert not has_reasoning("x", None)


def streamed(text: str, size: int, *, opened: bool = False) -> list[str]:
    pieces: list[str] = []
    thoughts = ReasoningFilter(pieces.append, opened=opened)
    for place in range(0, len(text), size):
        thoughts.feed(text[place : place + size])
    thoughts.close()
    return pieces


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
@pytest.mark.parametrize(
    "text",
    [
        "<think>\nhm, <b> or </b>\n</think>\n\nThe mill [C1].",
        "\n<thinking>hm</thinking>The mill [C1].",
        "The mill [C1].",
    ],
)
def test_a_stream_is_passed_on_without_reasoning_wherever_its_pieces_break(text: str, size: int) -> None:
    assert "".join(streamed(text, size)) == "The mill [C1]."


def test_a_stream_is_passed_on_while_it_arrives() -> None:
    assert len(streamed("<think>hm</think>The mill stood at Carrow.", 4)) > 4


@pytest.mark.parametrize("text", ["<b>bold</b> is a tag", "<think and think>", "[C1] says so", "<", "a <think> b"])
def test_what_only_looks_like_a_tag_is_passed_on(text: str) -> None:
    assert "".join(streamed(text, 1)) == text


def test_of_a_stream_of_reasoning_alone_nothing_is_passed_on() -> None:
    assert streamed("<think>hm, and so on", 3) == []


def test_a_model_whose_opening_tag_is_swallowed_begins_inside_its_reasoning() -> None:
    assert "".join(streamed("Okay. Hm.\n</think>\n\nThe mill.", 3, opened=True)) == "The mill."


def test_a_reply_that_ends_in_half_a_surrogate_pair_can_be_stored() -> None:
    assert reply_text("Bees \ud83d", "", as_json=False).encode() == "Bees \ufffd".encode()
    assert reply_text([{"type": "text", "text": "Bees \ud83d\udc1d"}], "", as_json=False) == "Bees \U0001f41d"
