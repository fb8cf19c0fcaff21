"""What writing upper layers again will take, layer by layer; nothing is asked of a model."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Unpack

import numpy as np

from leanrag_core.errors import CallFailed
from leanrag_core.indexing.aggregation.llm_writer import LLMWriter
from leanrag_core.indexing.aggregation.writer import ClusterView, RelationGroupView, Sentence, Summary
from leanrag_core.indexing.forecasting.growth import embedding_stage, money
from leanrag_core.indexing.updating.kept_texts import ENTITIES, RELATIONS
from leanrag_core.indexing.updating.rewriting import Rewriting, rewritten_layers
from leanrag_core.messages.message import message
from leanrag_core.models.base import Call, CallOptions, Completion
from leanrag_core.models.remote import RemoteLanguageModel
from leanrag_core.models.window import Window
from leanrag_core.prompts.catalog import PromptBook
from leanrag_core.text.tokens import count_tokens
from leanrag_core.types.config import model_title
from leanrag_core.types.forecast import Forecast, Range, StageForecast, exactly
from leanrag_core.types.graph import Layer
from leanrag_core.types.job import silent
from leanrag_core.types.settings import Price, Settings
from leanrag_core.types.updating import LayerCalls, RewriteForecast

MOST_WRITTEN_OUT = 1500  # texts whose prompts are written out, some ms each; for more the usual length is assumed
_PROMPT, _REPLY = {ENTITIES: 3000, RELATIONS: 900}, {ENTITIES: 450, RELATIONS: 60}  # tokens, as a build forecasts them
_SECONDS_A_CALL = Range(1.0, 4.0, 15.0)
_FIXED_SECONDS = 3.0  # a process, and the embedding model


def forecast_rewriting(rewriting: Rewriting, model: RemoteLanguageModel, settings: Settings) -> RewriteForecast:
    """Return the calls of each layer, and a forecast of the whole. Stored replies are followed as the work itself
    would, as far as they go; where one is missing, the present text takes its place.
    """
    index = rewriting.index
    above = index.layers[rewriting.from_layer :]
    n_texts = [(_n_clusters(layer), _n_summarised(layer)) for layer in above]
    tallies: dict[tuple[int, str], _Asked] = {}
    written_out = sum(map(sum, n_texts)) <= MOST_WRITTEN_OUT
    if written_out:
        recalled = _Recalled(model)
        prompts = PromptBook(rewriting.config.prompts)
        writer = LLMWriter(recalled, prompts=prompts, fallback=_TextsOfNow(index.layers))
        rewritten_layers(rewriting, _Tallied(writer, recalled, tallies), None, rewriting.progress(silent))
    price = settings.price(model.model)
    rows, stages = [], []
    for layer, (n_clusters, n_summarised) in zip(above, n_texts, strict=True):
        of_layer = []
        for stage, n in ((ENTITIES, n_clusters), (RELATIONS, n_summarised)):
            tally = tallies.get((layer.number, stage), _Asked()) if written_out else _Asked(n, 0, n * _PROMPT[stage])
            of_layer.append(tally)
            stages.append(_stage(stage, tally, price))
        dollars = sum(stage.dollars.expected for stage in stages[-2:])
        n_saved = sum(tally.saved for tally in of_layer)
        rows.append(LayerCalls(layer.number, n_clusters, n_summarised, n_saved, dollars))
    summed = [_summed(name, [stage for stage in stages if stage.stage == name]) for name in (ENTITIES, RELATIONS)]
    texts = sum(n_clusters for n_clusters, _ in n_texts)
    summed.append(embedding_stage(exactly(texts), rewriting.config, settings))
    calls = sum(stage.calls.expected for stage in summed[:2])
    call_seconds = _SECONDS_A_CALL.scaled(calls / max(1, settings.concurrency))
    seconds = call_seconds + exactly(_FIXED_SECONDS) + (summed[-1].seconds or Range())
    basis = message("forecast.rewriting.written_out" if written_out else "forecast.rewriting.usual")
    n_chunks = index.chunks.num_rows
    forecast = Forecast(n_chunks, n_chunks, exactly(len(index.layers[0])), tuple(summed), seconds, basis)
    return RewriteForecast(model_title(rewriting.model), rewriting.from_layer, tuple(rows), forecast)


def _n_clusters(layer: Layer) -> int:
    return sum(not promoted for promoted in layer.entities["promoted"].to_pylist())


def _n_summarised(layer: Layer) -> int:
    return sum(kind == "summarised" for kind in layer.relations["kind"].to_pylist())


@dataclass
class _Asked:
    """Calls that are to be made, calls that the store saves, and prompt tokens of the calls to be made."""

    calls: int = 0
    saved: int = 0
    prompt_tokens: int = 0


def _stage(name: str, tally: _Asked, price: Price) -> StageForecast:
    prompts, replies = exactly(tally.prompt_tokens), exactly(tally.calls * _REPLY[name])
    return StageForecast(name, exactly(tally.calls), prompts, replies, money(prompts, replies, price), tally.saved)


def _summed(name: str, stages: Sequence[StageForecast]) -> StageForecast:
    return StageForecast(
        name,
        sum((stage.calls for stage in stages), Range()),
        sum((stage.prompt_tokens for stage in stages), Range()),
        sum((stage.completion_tokens for stage in stages), Range()),
        sum((stage.dollars for stage in stages), Range()),
        sum(stage.saved for stage in stages),
    )


@dataclass
class _Recalled:
    """A language model that gives its stored replies alone. missing: prompt tokens of each call without one."""

    model: RemoteLanguageModel
    name: str = ""
    missing: list[int] = field(default_factory=list)

    @property
    def fingerprint(self) -> str:
        """Fingerprint of the model whose replies are stored."""
        return self.model.fingerprint

    @property
    def window(self) -> Window | None:
        """Window of that model, so that prompts are the same."""
        return self.model.window

    def on_cut(self) -> None:
        """Count nothing: nothing is sent."""

    def complete(self, messages: list[dict[str, str]], **options: Unpack[CallOptions]) -> Completion:
        """Return the stored reply. Raises CallFailed where there is none."""
        call = Call(messages, **options)
        stored = self.model.recalled(self.model.keys(call), call)
        if stored is None:
            self.missing.append(sum(count_tokens(message["content"]) for message in messages))
            raise CallFailed("reply.none")
        return stored


class _Tallied:
    """Counts what a writer asks, by layer and stage; called from one thread. See AggregationWriter."""

    def __init__(self, writer: LLMWriter, recalled: _Recalled, tallies: dict[tuple[int, str], _Asked]) -> None:
        self._writer, self._recalled, self._asked = writer, recalled, tallies

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare the writer. labels: (n,) int."""
        self._writer.prepare(layers, labels)

    def entity(self, members: ClusterView) -> Summary:
        """Return what the writer makes of the cluster."""
        summary = self._writer.entity(members)
        self._count(members.layer, ENTITIES)
        return summary

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return what the writer makes of the group."""
        sentence = self._writer.relation(view)
        self._count(view.layer, RELATIONS)
        return sentence

    def _count(self, layer: int, stage: str) -> None:
        tally = self._asked.setdefault((layer, stage), _Asked())
        missing = self._recalled.missing
        tally.calls += bool(missing)
        tally.saved += not missing
        tally.prompt_tokens += sum(missing)
        missing.clear()


class _TextsOfNow:
    """Returns the texts that an index has. See AggregationWriter."""

    def __init__(self, layers: Sequence[Layer]) -> None:
        self._layers = layers

    def prepare(self, layers: Sequence[Layer], labels: np.ndarray) -> None:
        """Prepare nothing. labels: (entities,) int."""

    def entity(self, members: ClusterView) -> Summary:
        """Return the text of that row."""
        entity = self._layers[members.layer].entity(members.label)
        return Summary(entity.name, entity.description, entity.findings)

    def relation(self, view: RelationGroupView) -> Sentence:
        """Return keywords in place of the sentence, since a view does not tell the relation's row."""
        return Sentence(" ".join(view.keywords) or view.left_name)
