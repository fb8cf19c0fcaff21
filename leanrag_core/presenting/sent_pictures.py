"""Pictures that a browser sends: decoded, measured and written again, so that what is stored is pixels alone."""

import base64
import binascii
import io
from typing import TYPE_CHECKING, Any

import numpy as np

from leanrag_core.errors import InvalidConfig
from leanrag_core.presenting.story import MAX_PICTURE, AddedPicture
from leanrag_core.types.visible import visible

if TYPE_CHECKING:
    from PIL import Image

_BEGIN = "data:image/png;base64,"
_LONGEST = 1_000  # characters of a title or note
_LARGEST_PX = 10_000
_MOST_DENSE = 3  # pixels of a picture in a px of the page
_COLOURS = 256


def picture_sent(sent: Any, *, index: str, made: str) -> AddedPicture:
    """Return the slide of what a browser has sent: light and dark, PNGs as data URIs, width and height in px, title and
    note. index: its name; made: the day, ISO 8601. Raises InvalidConfig for anything but a picture, and for one that is
    too large.
    """
    if not isinstance(sent, dict):
        raise InvalidConfig("explore.slide.no_picture")
    width, height = (_pixels(sent.get(side)) for side in ("width", "height"))
    if not (width and height):
        raise InvalidConfig("explore.slide.no_picture")
    light, dark = (_written_again(str(sent.get(theme, "")), width, height) for theme in ("light", "dark"))
    title, note = (visible(str(sent.get(name, ""))[:_LONGEST]) for name in ("title", "note"))
    return AddedPicture(title, note, index, made, light, dark, width, height)


def _pixels(sent: object) -> int:
    """Return the length, 0 for anything that is not a length."""
    return sent if type(sent) is int and 1 <= sent <= _LARGEST_PX else 0


def _with_few_colours(image: "Image.Image") -> "Image.Image":
    """Return the picture with at most 256 colours, each the most frequent of those that it stands for.

    Rare ones, such as dots on a map, stay, and grounds are exact.
    """
    from PIL import Image

    few = image.quantize(_COLOURS, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    rgb = np.asarray(image).reshape(-1, 3).astype(np.int64) @ (1 << 16, 1 << 8, 1)
    pairs, counts = np.unique((np.asarray(few).ravel().astype(np.int64) << 24) + rgb, return_counts=True)
    palette = np.zeros((_COLOURS, 3), dtype=np.uint8)
    rarest_first = np.argsort(counts, kind="stable")
    colours = pairs[rarest_first]
    palette[colours >> 24] = np.stack([colours >> shift & 255 for shift in (16, 8, 0)], axis=1)
    few.putpalette(palette.tobytes())
    return few


def _written_again(sent: str, width: int, height: int) -> str:
    from PIL import Image, UnidentifiedImageError

    if len(sent) > MAX_PICTURE:
        raise InvalidConfig("explore.slide.large")
    try:
        content = base64.b64decode(sent.removeprefix(_BEGIN), validate=True) if sent.startswith(_BEGIN) else b""
        with Image.open(io.BytesIO(content), formats=("PNG",)) as image:
            if image.width > _MOST_DENSE * width + 1 or image.height > _MOST_DENSE * height + 1:
                raise InvalidConfig("explore.slide.large")
            few = _with_few_colours(image.convert("RGB"))
    except (binascii.Error, UnidentifiedImageError, Image.DecompressionBombError, OSError, SyntaxError) as error:
        raise InvalidConfig("explore.slide.no_picture") from error
    png_file = io.BytesIO()
    few.save(png_file, "PNG", optimize=True)
    return _BEGIN + base64.b64encode(png_file.getvalue()).decode()
