"""Shards: JSON values in classic scripts, which a page may load from a disk where it may not fetch files.

A shard calls leanragShard(name, text): the values deflated, in base64. Browsers inflate them by DecompressionStream.
"""

import base64
import json
import zipfile
import zlib
from collections.abc import Sequence
from typing import Any

from leanrag_core.exporting.base import zip_entry
from leanrag_core.types.visible import visible_values

PAGE = "index.html"


class SiteFiles:
    """The files of a site, written into a ZIP file one after the other."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, value: Any) -> None:
        """Write a shard. value: JSON values; invisible characters in their texts are made visible."""
        text = json.dumps(visible_values(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        packed = base64.b64encode(zlib.compress(text.encode("utf-8", "replace"), 9)).decode()
        self._archive.writestr(zip_entry(f"data/{name}.js", is_packed=False), f'leanragShard("{name}","{packed}")\n')

    def add_page(self, page: str) -> None:
        """Write the page that is opened."""
        self._archive.writestr(zip_entry(PAGE, is_packed=True), page)


def clipped(text: str, most: int) -> str:
    """Return the beginning of a text that has more than that many bytes."""
    content = text.encode()
    return text if len(content) <= most else f"{content[:most].decode(errors='ignore').rstrip()}…"


def bytes_each(sizes: Sequence[int], budget: int, *, least: int) -> int:
    """Return how many bytes each text may have, so that all of them together keep the budget; never fewer than `least`.
    sizes: of all texts."""
    low, high = least, max([least, *sizes])
    if sum(sizes) <= budget:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if sum(min(size, middle) for size in sizes) <= budget:
            low = middle
        else:
            high = middle - 1
    return low
