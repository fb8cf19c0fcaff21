import json
import ssl

import pytest

from leanrag_core.text.plain_words import in_words


def of_json(text: str) -> Exception:
    with pytest.raises(json.JSONDecodeError) as caught:
        json.loads(text)
    return caught.value


@pytest.mark.parametrize(
    ("error", "expected_text"),
    [
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (FileNotFoundError(2, "No such file or directory", "notes.txt"), "No such file or directory: notes.txt"),
        (OSError("[Errno 111] Connection refused"), "Connection refused"),
        (ssl.SSLError(1, "[SSL: WRONG_VERSION_NUMBER] wrong version number (_ssl.c:1006)"), "wrong version number"),
        (KeyError("tokens"), "'tokens' is missing"),
        (RuntimeError("two\nlines"), "two lines"),
        (RuntimeError(), "no reason was given"),
        (of_json("{"), "Expecting property name enclosed in double quotes: line 1 column 2 (char 1)"),
    ],
)
def test_an_error_is_written_without_its_class_and_number(error: Exception, expected_text: str) -> None:
    assert in_words(error) == expected_text
