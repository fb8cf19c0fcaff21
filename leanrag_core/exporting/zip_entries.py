"""Entries of ZIP files without clock times, so that the same index gives the same bytes."""

import zipfile

_MADE = (1980, 1, 1, 0, 0, 0)


def packed_entry(name: str) -> zipfile.ZipInfo:
    """An entry of that name whose content is compressed."""
    return _entry(name, zipfile.ZIP_DEFLATED)


def stored_entry(name: str) -> zipfile.ZipInfo:
    """An entry of that name whose content stays as it is."""
    return _entry(name, zipfile.ZIP_STORED)


def _entry(name: str, compression: int) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _MADE)
    entry.compress_type, entry.external_attr = compression, 0o644 << 16
    return entry
