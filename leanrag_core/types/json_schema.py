"""JSON Schemas, which a language model's reply is asked to follow."""

from typing import Any

JsonSchema = dict[str, Any]
