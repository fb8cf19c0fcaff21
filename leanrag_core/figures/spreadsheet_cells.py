"""Texts as a spreadsheet shows them and never computes them."""

import re

_FORMULA = tuple("=+-@\t\r＝＋－＠")  # also in the full-width forms, which spreadsheets in Chinese and Japanese take
_NUMBER = re.compile(r"[+-]?[\d,]*\.?\d+")


def spreadsheet_cell(value: object, *, numbers: bool = False) -> object:
    """The value; a text that a spreadsheet would take for a formula gets an apostrophe before it.

    numbers: texts such as "-1.5" are numbers, and stay as they are.
    """
    if not isinstance(value, str) or not value.startswith(_FORMULA):
        return value
    return value if numbers and _NUMBER.fullmatch(value) else f"'{value}"
