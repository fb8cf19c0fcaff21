"""A configuration dataclass draws its own form: each field with its help, its bounds and the paper's value."""

from collections.abc import Sequence
from dataclasses import Field, fields
from html import escape
from typing import Any, Literal

import streamlit as st

from leanrag_core.types.config import IndexConfig
from pages._shared import state

TITLES = {
    "parse_seconds": "Seconds for a file",
    "parse_memory_mb": "Memory for a file, MB",
    "parse_output_mb": "Text of a file, MB",
    "cluster_size": "clustersize",
    "tau": "tau",
    "chunk_tokens": "Chunk size, tokens",
    "overlap_tokens": "Overlap, tokens",
    "size_cap": "Size cap",
    "cap_by": "Cap by",
    "smoothing": "Smoothing rounds",
    "neighbours": "Neighbours averaged",
    "space": "Dimensions",
    "concatenation_tokens": "Joined relations, tokens",
    "seed": "Random seed",
    "top_n": "Top-N seeds",
    "top_c": "Top-C chunks",
    "inter_cluster": "Inter-cluster relations",
    "source_chunks": "Source chunks",
    "findings": "Findings",
    "seed_layers": "Seeds from",
    "fuse_vectors": "Fuse with vector ranking",
    "match_names": "Prefer names in the question",
    "entity_tokens": "Budget: entities, tokens",
    "aggregated_tokens": "Budget: aggregated, tokens",
    "relation_tokens": "Budget: relations, tokens",
    "inter_cluster_share": "Inter-cluster share of it, percent",
    "gleaning_rounds": "Gleaning rounds",
    "concurrency": "Calls in flight",
    "requests_per_minute": "Requests a minute",
    "tokens_per_minute": "Tokens a minute",
    "timeout_seconds": "Timeout, seconds",
    "max_reply_tokens": "Longest reply, tokens",
}


def title_of(name: str, config: type | None = None) -> str:
    """The title on screen of a field of that configuration, or of a strategy's option."""
    if name == "chunk_tokens" and config is not IndexConfig:
        return "Budget: chunks, tokens"
    return TITLES.get(name, name.replace("_", " ").capitalize())


def option_fields(config: type) -> dict[str, Field[Any]]:
    """The fields of a configuration dataclass, by name."""
    return {spec.name: spec for spec in fields(config)}


def hint(spec: Field[Any]) -> str:
    """The field's line of help with the paper's value."""
    said = str(spec.metadata.get("help") or "")
    paper = spec.metadata.get("paper")
    if paper is None or isinstance(paper, bool):
        return said
    return f"{said} Paper: {paper:,}." if isinstance(paper, int) else f"{said} Paper: {paper}."


def field_key(config: type, name: str, prefix: str) -> str:
    """The widget key of a field, its state ready."""
    spec = option_fields(config)[name]
    default, low, high = spec.default, spec.metadata.get("low"), spec.metadata.get("high")
    choices = spec.metadata.get("choices") or ()
    remembered = f"{prefix}{name}"
    if choices:
        return state.prepare(remembered, default, str, lambda value: value in choices)
    if isinstance(default, bool):
        return state.prepare(remembered, default, state.as_flag, lambda value: isinstance(value, bool))
    if isinstance(default, int):
        return state.prepare(
            remembered,
            default,
            int,
            lambda value: (low is None or value >= low) and (high is None or value <= high),
        )
    return state.prepare(remembered, "" if default is None else str(default), str, lambda value: isinstance(value, str))


def draw_field(config: type, name: str, *, prefix: str = "", help_below: bool = True) -> Any:
    """One field of a configuration as a widget; returns its value and remembers it when it is not the default."""
    spec = option_fields(config)[name]
    key = field_key(config, name, prefix)
    low, high, choices = (spec.metadata.get(one) for one in ("low", "high", "choices"))
    shown_help, title = None if help_below else hint(spec), title_of(name, config)
    with st.container(gap="xsmall"):
        value: Any
        if choices:
            value = st.selectbox(title, choices, key=key, help=shown_help)
        elif isinstance(spec.default, bool):
            value = st.toggle(title, key=key, help=shown_help)
        elif isinstance(spec.default, int):
            value = st.number_input(
                title_of(name, config), min_value=low, max_value=high, step=1, key=key, help=shown_help
            )
        else:
            value = st.text_input(title, key=key, help=shown_help, placeholder="chosen from the data")
            value = value.strip() or None if value else None
        if help_below:
            st.html(f'<div class="lr-hint">{escape(hint(spec))}</div>')
    state.remember(f"{prefix}{name}", None if value == spec.default else _written(value))
    return value


def _written(value: Any) -> str:
    return ("1" if value else "0") if isinstance(value, bool) else str(value)


def draw_fields(config: type, names: Sequence[str], *, prefix: str = "", columns: int = 3) -> dict[str, Any]:
    """The fields side by side, wrapping on narrow windows; returns their values."""
    values = {}
    with st.grid(columns, min_column_width=190, gap="small"):
        for name in names:
            values[name] = draw_field(config, name, prefix=prefix)
    return values


def plain(text: str) -> str:
    """Text for a Streamlit label, which reads Markdown: its signs are escaped."""
    return "".join(f"\\{sign}" if sign in "\\`*_{}[]()#+-.!:$~|<>" else sign for sign in text)


def table_height(rows: int, most: int) -> int | Literal["content"]:
    """All rows of a short table, else the height at which it begins to scroll."""
    return "content" if 35 * rows + 40 <= most else most
