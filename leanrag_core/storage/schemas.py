"""What the JSON files of an index must look like. A manifest or report that does not is one of a damaged index."""

import types
import typing
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, Literal

from leanrag_core.errors import IndexDamaged
from leanrag_core.storage.json_files import REMEDY
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.summary import LayerSummary

_COUNT = {"type": "integer", "minimum": 0, "maximum": 2**53}
_TEXT = {"type": "string", "maxLength": 10_000}
_COUNTS = {"type": "array", "items": _COUNT}
_TEXTS = {"type": "array", "items": {"type": "string"}}
# A path below the index's folder that cannot leave it.
_FILES = {
    "type": "object",
    "propertyNames": {"pattern": r"^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$"},
    "additionalProperties": {
        "type": "object",
        "properties": {"size": _COUNT, "sha256": {"type": "string", "pattern": "^[0-9a-f]{64}$"}},
        "required": ["size", "sha256"],
    },
}


def _object(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None, *, closed: bool = False) -> Any:
    made = {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}
    return {**made, "additionalProperties": False} if closed else made


def _config() -> dict[str, Any]:
    """The fields of IndexConfig, none of which an older index must have."""
    hints = typing.get_type_hints(IndexConfig)
    return {"type": "object", "properties": {spec.name: _of_type(hints[spec.name]) for spec in fields(IndexConfig)}}


def _of_type(hint: Any) -> dict[str, Any]:
    """The schema of a field's type: numbers, texts, tuples of them, and choices among these."""
    parts = typing.get_args(hint)
    if typing.get_origin(hint) is tuple:
        many = parts[-1] is Ellipsis
        length = {} if many else {"minItems": len(parts), "maxItems": len(parts)}
        return {"type": "array", "items": _of_type(parts[0]), **length}
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        return {"anyOf": [_of_type(part) for part in parts]}
    simple = {int: "integer", bool: "boolean", str: "string", float: "number", type(None): "null"}
    return {"type": simple[hint]} if hint in simple else {}


_SCHEMAS: dict[str, Any] = {
    "manifest": _object(
        {
            "format_version": _COUNT,
            "id": _TEXT,
            "name": _TEXT,
            "kind": _TEXT,
            "corpus": _object({}, {"id": _TEXT, "name": _TEXT}),
            "config": _config(),
            "embedding": _object({"name": _TEXT, "fingerprint": _TEXT, "dimension": {**_COUNT, "minimum": 1}}),
            "counts": _object(
                {
                    "documents": _COUNT,
                    "chunks": _COUNT,
                    "layers": {"type": "integer", "minimum": 1, "maximum": 100},
                    "entities": _COUNTS,
                    "relations": _COUNTS,
                }
            ),
            "layers": {
                "type": "array",
                "minItems": 1,
                "items": _object({spec.name: _COUNT for spec in fields(LayerSummary)}, closed=True),
            },
        },
        {
            "files": _FILES,
            "corpus_fingerprint": _TEXT,
            "extractor": _TEXT,
            "builtin_texts": _COUNT,
            "language_model": _TEXT,
            "aggregation_model": _TEXT,
            "libraries": {"type": "object", "additionalProperties": _TEXT},
            "sha256": _TEXT,
        },
    ),
    "report": _object(
        {
            "drops": {"type": "object", "additionalProperties": _COUNT},
            "empty_chunks": _TEXTS,
            "usage": {"type": "object", "additionalProperties": {"type": "number"}},
        },
        {
            "dropped": {
                "type": "object",
                "additionalProperties": {
                    "type": "array",
                    "items": _object({"item": {"type": "string"}, "reason": {"type": "string"}}),
                },
            },
            "aliases": {"type": "object", "additionalProperties": {"type": "string"}},
            "clustering": {"type": "array", "items": {"type": "object"}},
        },
    ),
    "search": _object(
        {
            "layers": {
                "type": "array",
                "items": _object(
                    {
                        "layer": _COUNT,
                        "rows": _COUNT,
                        "candidates": _COUNT,
                        "recall": {"type": "number", "minimum": 0, "maximum": 1},
                    },
                    closed=True,
                ),
            },
        },
        {"files": _FILES, "rows": _TEXT, "sha256": _TEXT},
    ),
}


@cache
def _validator(kind: str) -> Any:
    from jsonschema import Draft202012Validator, TypeChecker, validators

    def is_integer(checker: TypeChecker, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)  # jsonschema itself takes 3.0 for one

    strict = Draft202012Validator.TYPE_CHECKER.redefine("integer", is_integer)
    return validators.extend(Draft202012Validator, type_checker=strict)(_SCHEMAS[kind])


def require_schema(values: Mapping[str, Any], kind: Literal["manifest", "report", "search"], path: Path) -> None:
    """Raises IndexDamaged when the file's values are not those of its kind, naming the file and the place in it."""
    error = next(_validator(kind).iter_errors(values), None)
    if error is not None:
        place = ".".join(map(str, error.absolute_path)) or "its outermost level"
        raise IndexDamaged(f"{path} is not what an index has there ({place}: {error.message[:200]}): {REMEDY}")
