"""What the panel of tau computes with."""

from typing import Any

import numpy as np
import streamlit as st

from leanrag_core.figures import numbers
from leanrag_core.figures.islands import lambda_bars
from leanrag_core.indexing.forecasting.relation_calls import RelationCalls
from leanrag_core.queries.islands import TauSuggestion
from leanrag_core.types.index import Index
from leanrag_core.views import islands
from leanrag_core.views.islands import IndexIslands, LayerIslands
from pages.common.messages import say


@st.cache_resource(max_entries=8, show_spinner=False)
def islands_of(index_id: str, created: str, _index: Index) -> IndexIslands:
    """Return the islands of an index, computed once."""
    return islands.islands_of(_index)


def panel_layer(made: LayerIslands, calls: RelationCalls | None) -> dict[str, Any]:
    """Return what tau_panel.js computes with, for a layer that has relations."""
    curve, number, n = made.curve, made.layer.number, len(made.layer)
    built_text = "" if made.built is None else f"{made.built:g}"
    return {
        "number": number,
        "title": say("explore.tau.layer", layer=number),
        "about": say("explore.tau.about", n=int(curve.pairs.sum())),
        "n": n,
        "ofNodes": say("explore.tau.of_nodes", n=n),
        "pairs": int(curve.pairs.sum()),
        "built": made.built,
        "builtText": say("explore.tau.built_column", tau=built_text),
        "builtLine": say("explore.tau.built", tau=built_text),
        "parts": len(made.parts),
        "strengths": curve.strengths.tolist(),
        "counts": curve.pairs.tolist(),
        "connected": curve.connected.tolist(),
        "largest": curve.largest.tolist(),
        "bars": [list(bar) for bar in lambda_bars(curve.strengths, curve.pairs)],
        "suggestion": _suggestion(made.suggestion) if made.suggestion else None,
        "calls": _calls(made, calls) if calls else None,
    }


def _suggestion(suggestion: TauSuggestion) -> dict[str, Any]:
    chosen, nodes = suggestion.chosen, suggestion.affordable // 2
    values: dict[str, Any] = {
        "tau": suggestion.tau,
        "n": chosen.summarised,
        "affordable": suggestion.affordable,
        "nodes": nodes,
        "largest": chosen.largest,
        "reachable": suggestion.all_relations.largest,
    }
    code = "explore.tau.reason" if suggestion.connects_enough else "explore.tau.reason_affordable"
    texts = [
        say("explore.tau.quantile", share=numbers.share(share), value=f"{value:g}")
        for share, value in suggestion.quantiles
    ]
    return {
        "tau": suggestion.tau,
        "most": max(12, int(2 * suggestion.quantiles[-1][1])),
        "reason": say(code, **values),
        "quantiles": say("explore.tau.quantiles", quantiles=say("ask.comma").join(texts)),
    }


def _calls(made: LayerIslands, calls: RelationCalls) -> dict[str, Any]:
    """Return the calls that are not answered yet, and money, of the relations of at least each lambda."""
    strength = made.layer.relations["strength"].to_numpy()

    def from_each_up(values: np.ndarray) -> list[float]:
        """Return the sum of the (relations,) values from each strength up."""
        by_lambda = np.bincount(np.searchsorted(made.curve.strengths, strength), weights=values)
        return [round(float(value), 8) for value in np.cumsum(by_lambda[::-1])[::-1]]

    fresh = ~calls.stored
    partly = calls.n_counted < len(strength)
    note = say("explore.tau.calls_note_some" if partly else "explore.tau.calls_note", kept="{kept}", fresh="{fresh}")
    return {
        "fresh": from_each_up(fresh.astype(float)),
        "dollars": from_each_up(calls.dollars),
        "freshDollars": from_each_up(calls.dollars * fresh),
        "note": note,
    }
