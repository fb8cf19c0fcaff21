"""Ends a reply that has begun to repeat itself while it streams: small models do so until their limit is reached."""

import zlib

LOOPED = "loop"  # the finish reason of a reply that was ended so
_LOOKED_AT = 1800  # characters at the end of the reply
_EVERY = 200  # characters between two looks
_LONGEST_PERIOD = 300  # characters of what is repeated word by word
_TIMES = 5  # it has to be there so often in a row
_SHORTEST = 240  # characters that the repetitions take at least
_RATIO = 0.09  # of its length that the end compresses to; prose stays above 0.3


class LoopWatch:
    """Looks at a reply piece by piece."""

    def __init__(self) -> None:
        self._end = ""
        self._n_unseen = 0

    def loops(self, piece: str) -> bool:
        """Take the next piece; return whether the reply repeats itself by now."""
        self._end = (self._end + piece)[-_LOOKED_AT:]
        self._n_unseen += len(piece)
        if self._n_unseen < _EVERY:
            return False
        self._n_unseen = 0
        return repeats(self._end)


def repeats(text: str) -> bool:
    """Tell whether the text ends in the same words over and over, or in ones that hardly differ."""
    for period in range(1, min(_LONGEST_PERIOD, len(text) // _TIMES) + 1):
        if text[-1 - period] != text[-1]:  # one comparison for most periods
            continue
        times = max(_TIMES, -(-_SHORTEST // period))
        if len(text) >= period * times and text.endswith(text[-period:] * times):
            return True
    return len(text) >= _LOOKED_AT and len(zlib.compress(text.encode())) < _RATIO * len(text.encode())
