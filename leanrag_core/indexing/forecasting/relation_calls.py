"""The calls that summarising the relations of a layer takes: which of them are answered already, and what the others
cost. Nothing is asked of a model."""

from dataclasses import dataclass

import numpy as np

from leanrag_core.indexing.aggregation.llm_writer import LLMWriter
from leanrag_core.indexing.aggregation.relations import RelationGroups, group_relations, strongest_first
from leanrag_core.indexing.aggregation.rules import AggregationRules
from leanrag_core.indexing.aggregation.tables import NewEntity, columns_of, relation_view
from leanrag_core.models.base import Call
from leanrag_core.models.registry import Models
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.storage.calls import CallStore
from leanrag_core.text.tokens import count_many
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.graph import Layer
from leanrag_core.types.index import Index
from leanrag_core.types.roles import AGGREGATION

MOST_COUNTED = 2000  # relations of a layer whose prompts are written out; the strongest ones
_REPLY_TOKENS = 60  # of a sentence on a relation, as the forecast of a build takes it


@dataclass(frozen=True, eq=False)
class RelationCalls:
    """A call for each relation of an aggregated layer, in its rows. model: at the endpoint. stored: (r,) bool, whether
    the call store has the answer. dollars: (r,) float64, at today's price, of a call that is made. n_counted: relations
    whose prompts were written out; for the others `stored` is False and `dollars` the mean of those."""

    model: str
    stored: np.ndarray
    dollars: np.ndarray
    n_counted: int


def relation_calls(index: Index, number: int, models: Models, calls: CallStore) -> RelationCalls | None:
    """Return the calls of layer `number`; None where no model at an endpoint writes, or the layer's relations are not
    those that its clusters give (an imported or an edited one).
    """
    config: IndexConfig = index.manifest.config
    model = models.language(config.aggregation_model or config.model, AGGREGATION)
    below, layer = index.layers[number - 1], index.layers[number]
    groups = _groups(below, layer, config)
    if not isinstance(model, RemoteLanguageModel) or groups is None:
        return None
    prompts = PromptBook(config.prompts)
    writer, task = LLMWriter(model, prompts=prompts), prompts.of("aggregate_relation").fingerprint
    counted = np.argsort(-groups.strength.astype(np.int64), kind="stable")[:MOST_COUNTED]
    texts = _prompts(writer, below, layer, groups, counted, findings=config.relation_input == "findings")
    keys = [model.key(Call([{"role": "user", "content": text}], task=task)) for text in texts]
    price = model.endpoint.settings.price(model.model)
    dollars = np.array([price.of(tokens, _REPLY_TOKENS) for tokens in count_many(texts)])
    all_dollars = np.full(len(groups), dollars.mean() if len(dollars) else 0.0)
    all_dollars[counted] = dollars
    stored = np.zeros(len(groups), dtype=bool)
    stored[counted] = [record is not None for record in calls.get_many(keys)]
    return RelationCalls(model.model, stored, all_dollars, len(counted))


def _groups(below: Layer, layer: Layer, config: IndexConfig) -> RelationGroups | None:
    """Return the groups that the layer's relations stand for, in their rows; None where they are others."""
    weights = np.asarray(below.relations["weight"].to_numpy())
    dropped = AggregationRules(singleton_relations=config.singleton_relations).dropped(below.ends, below.parent)
    ends = np.where(dropped[:, None], below.ends[:, :1], below.ends)
    groups = group_relations(ends, weights, below.parent, len(layer))
    same = len(groups) == len(layer.ends) and np.array_equal(np.stack([groups.left, groups.right], axis=1), layer.ends)
    return groups if same else None


def _prompts(
    writer: LLMWriter, below: Layer, layer: Layer, groups: RelationGroups, group_rows: np.ndarray, *, findings: bool
) -> list[str]:
    """Return the prompts of the writer about those groups. group_rows: (k,) int."""
    columns = columns_of(below)
    ranked = strongest_first(groups, columns.strengths, columns.weights)
    parents = [
        NewEntity(entity.name, entity.type, entity.description, entity.findings, entity.promoted)
        for entity in map(layer.entity, range(len(layer)))
    ]
    texts = []
    for group in group_rows.tolist():
        rows = ranked[groups.offsets[group] : groups.offsets[group + 1]]
        view = relation_view(below, columns, groups, group, rows, parents, findings=findings)
        texts.append(writer.relation_prompt(view))
    return texts
