"""Counting and cutting by cl100k tokens, offline: the vocabulary is shipped and its hash verified."""

import os
import re
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from leanrag_core.errors import ModelUnavailable

_VOCABULARY = Path(__file__).parents[1] / "models" / "assets" / "cl100k_base.tiktoken"
_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
# The published split pattern of cl100k (tiktoken_ext/openai_public.py, MIT licence).
_PATTERN = (
    r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|"""
    r"""\s+(?!\S)|\s"""
)
# As one piece, a million letters without a break would take minutes; a million spaces overflow the splitter's stack,
# which raises a panic that is no Exception.
_LONGEST_RUN = 2000  # characters
_RUN = re.compile(rf"(?<!\S)\S{{{_LONGEST_RUN},}}|(?<!\s)\s{{{_LONGEST_RUN},}}")  # matches only at the start of a run
_MANY = 4096  # texts; fewer are counted sooner than threads are started


@cache
def _encoding() -> Any:
    import hashlib

    import tiktoken

    if not _VOCABULARY.is_file() or hashlib.sha256(_VOCABULARY.read_bytes()).hexdigest() != _SHA256:
        raise ModelUnavailable("tokens.vocabulary_missing", file=_VOCABULARY.name)
    from base64 import b64decode

    ranks = {}
    for line in _VOCABULARY.read_bytes().splitlines():
        token, rank = line.split()
        ranks[b64decode(token)] = int(rank)
    return tiktoken.Encoding("cl100k_base", pat_str=_PATTERN, mergeable_ranks=ranks, special_tokens={})


def _pieces(text: str) -> list[str]:
    """Return the text in order, in one piece; only texts with a very long run of letters or of spaces are cut, every
    2,000 characters."""
    if not _may_have_long_run(text):
        return [text] if text else []
    pieces, start = [], 0
    for run in _RUN.finditer(text):
        for end in range(run.start() + _LONGEST_RUN, run.end() + 1, _LONGEST_RUN):
            pieces.append(text[start:end])
            start = end
    pieces.append(text[start:])
    return [piece for piece in pieces if piece]


def _may_have_long_run(text: str) -> bool:
    """Return whether a window of half such a length holds one word or none; a long run fills one, wherever it
    begins."""
    width = _LONGEST_RUN // 2
    starts = range(0, len(text) - width + 1, width)
    return any(len(text[start : start + width].split(None, 1)) < 2 for start in starts)


def _encode(text: str) -> list[int]:
    encoding = _encoding()
    return [token for piece in _pieces(text) for token in encoding.encode_ordinary(_encodable(piece))]


def _encodable(text: str) -> str:
    """Replace lone surrogates, which cannot be encoded, by the replacement character, which keeps the length."""
    return text if text.isascii() else re.sub("[\ud800-\udfff]", "�", text)


def load_vocabulary() -> None:
    """Read the vocabulary once for the process, which takes some .2 s that no measured step should include. Raises
    ModelUnavailable.
    """
    _encoding()


def count_tokens(text: str) -> int:
    """Count the cl100k tokens; names of special tokens are ordinary text."""
    return len(_encode(text))


def count_many(texts: Sequence[str]) -> np.ndarray:
    """Return count_tokens of each text, (n,) int32. Equal texts are counted once; large numbers on all cores."""
    places = {text: place for place, text in enumerate(dict.fromkeys(texts))}
    unique = list(places)
    if len(unique) < _MANY:
        counts = [count_tokens(text) for text in unique]
    else:
        with ThreadPoolExecutor(os.cpu_count()) as pool:  # the encoder lets go of the interpreter's lock
            shares = pool.map(_counts, [unique[start : start + _MANY] for start in range(0, len(unique), _MANY)])
            counts = [count for share in shares for count in share]
    return np.array(counts, dtype=np.int32)[[places[text] for text in texts]] if texts else np.zeros(0, np.int32)


def _counts(texts: Sequence[str]) -> list[int]:
    return [count_tokens(text) for text in texts]


def rest_of_line(text: str) -> str:
    """Return a stored text as it ends a line of a context, from the space before it to the line's end: what is
    counted once, when the text is stored (retrieval.budgets says why these counts add up)."""
    return f" {text}\n"


def finding_lines(findings: Sequence[tuple[str, str]]) -> str:
    """Return summaries and explanations as lines of a context, counted once like the rest of a line."""
    return "".join(f"- {summary} {explanation}\n" for summary, explanation in findings)


def token_offsets(text: str) -> list[int]:
    """Return the character offsets of all token boundaries: n + 1 values, from 0 to len(text), ascending.

    A token that ends inside a character counts to the end of that character.
    """
    return _offsets(_encode(text))


def _offsets(tokens: Sequence[int]) -> list[int]:
    """Return token_offsets() of those tokens, the first ones of a text."""
    encoding = _encoding()
    offsets, characters = [0], 0
    pending = 0  # bytes of the character that is not complete yet
    for token in tokens:
        content = encoding.decode_single_token_bytes(token)
        if content.isascii() and not pending:
            characters += len(content)
            offsets.append(characters)
            continue
        for byte in content:
            if pending:
                pending -= 1
            else:
                characters += 1
                pending = 3 if byte >= 0xF0 else 2 if byte >= 0xE0 else 1 if byte >= 0xC0 else 0
        offsets.append(characters)
    return offsets


def trim_to_tokens(text: str, max_tokens: int) -> str:
    """Return the longest beginning of the text, cut at a token boundary, that counts at most max_tokens."""
    tokens = _encode(text)
    if len(tokens) <= max_tokens:
        return text
    n_kept = max(0, max_tokens)
    offsets = _offsets(tokens[:n_kept])
    while n_kept > 0:
        cut = text[: offsets[n_kept]]
        if count_tokens(cut) <= max_tokens:
            return cut
        n_kept -= 1
    return ""
