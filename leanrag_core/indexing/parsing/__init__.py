"""Files to documents: text with pages, headings and boilerplate marked. One file a format, found by itself."""

from leanrag_core.indexing.parsing.upload import ParsedUpload, parse_upload

__all__ = ["ParsedUpload", "parse_upload"]
