"""Places of a layer's embeddings in the plane, computed once for the same vectors and kept beside the build stages."""

import numpy as np

from leanrag_core.figures.embedding_map import RULES, SAMPLE, MapPlaces, embedding_places, sample_rows
from leanrag_core.storage.stages import StageStore, stage_key
from leanrag_core.types.index import Index

STAGE = "map"


def map_places(index: Index, number: int, stages: StageStore) -> MapPlaces:
    """The places of that layer: kept ones, else new ones, which are kept."""
    layer = index.layers[number]
    rows = sample_rows(len(layer))
    recorded = index.manifest.files.get(f"vectors-{number}.npy")
    rests_on = recorded.sha256 if recorded else f"{index.id} {number}"
    key = stage_key(STAGE, RULES, str(SAMPLE), rests_on)
    content = stages.get(key)
    if content is not None and len(content) == 8 * len(rows):
        return MapPlaces(rows, np.frombuffer(content, dtype="<f4").reshape(-1, 2))
    shown = embedding_places(layer.vectors)
    stages.put(STAGE, key, shown.places.astype("<f4").tobytes())
    return shown
