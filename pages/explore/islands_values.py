"""The values with which the panel of tau computes."""

from typing import Any

import numpy as np

from leanrag_core.figures import numbers
from leanrag_core.figures.islands import lambda_bars
from leanrag_core.indexing.forecasting.relation_calls import RelationCalls
from leanrag_core.queries.islands import TauSuggestion
from leanrag_core.views.islands import LayerIslands
from pages.common.messages import say


def panel_layer(layer_islands: LayerIslands, calls: RelationCalls | None) -> dict[str, Any]:
    """Return the values of a layer with relations for tau_panel.js."""
    curve, number, n = layer_islands.curve, layer_islands.layer.number, len(layer_islands.layer)
    built_text = "" if layer_islands.built is None else f"{layer_islands.built:g}"
    return {
        "number": number,
        "title": say("explore.tau.layer", layer=number),
        "about": say("explore.tau.about", n=int(curve.pairs.sum())),
        "n": n,
        "ofNodes": say("explore.tau.of_nodes", n=n),
        "pairs": int(curve.pairs.sum()),
        "built": layer_islands.built,
        "builtText": say("explore.tau.built_column", tau=built_text),
        "builtLine": say("explore.tau.built", tau=built_text),
        "parts": len(layer_islands.parts),
        "strengths": curve.strengths.tolist(),
        "counts": curve.pairs.tolist(),
        "connected": curve.connected.tolist(),
        "largest": curve.largest.tolist(),
        "bars": [list(bar) for bar in lambda_bars(curve.strengths, curve.pairs)],
        "suggestion": _suggestion(layer_islands.suggestion) if layer_islands.suggestion else None,
        "calls": _calls(layer_islands, calls) if calls else None,
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


def _calls(layer_islands: LayerIslands, calls: RelationCalls) -> dict[str, Any]:
    """Return, for each lambda, the unanswered calls and the cost of the relations that have at least that lambda."""
    strength = layer_islands.layer.relations["strength"].to_numpy()

    def from_each_up(values: np.ndarray) -> list[float]:
        """Return, for each strength, the sum of the (relations,) values that have at least that strength."""
        by_lambda = np.bincount(np.searchsorted(layer_islands.curve.strengths, strength), weights=values)
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
