"""The operator of LeanRAG-walk: the entities' mentions in passages as transition probabilities, stored as arrays."""

from pathlib import Path

import numpy as np

from leanrag_core.errors import PartDamaged
from leanrag_core.indexing.part_base import Options, PartBase, PartTools
from leanrag_core.storage.search_store import EXACT_UP_TO
from leanrag_core.types.forecast import Range
from leanrag_core.types.index import Index
from leanrag_core.types.job import Progress
from leanrag_core.types.manifest import CHUNKS, ENTITIES
from leanrag_core.types.walks import ARRAYS, WalkOperator, walk_operator, with_both_steps

_STEP_BY_STEP_UP_TO = 10_000  # entities
_MATRICES = ("to_chunks", "to_entities")


Config = Options


class Part(PartBase):
    """Sparse, one column for each entity and each chunk."""

    name = "passage_walk"
    needs: tuple[str, ...] = (ENTITIES, CHUNKS)
    seconds = Range(0.01, 0.05, 0.5)
    seconds_an_entity = Range(1e-7, 5e-7, 5e-6)

    def offered(self, index: Index) -> bool:
        """Return whether it takes a while to compute."""
        return len(index.layers[0]) > EXACT_UP_TO

    def build(self, index: Index, folder: Path, config: Options, tools: PartTools) -> None:
        """Write the arrays of the sparse matrix."""
        n = len(index.layers[0])
        tools.report(Progress("make", 0, n, "entities"))
        operator = walk_operator(index.entity_chunks)
        for matrix in _MATRICES:
            for name in ARRAYS:
                array = getattr(getattr(operator, matrix), name)
                np.save(folder / f"{matrix}-{name}.npy", array, allow_pickle=False)
        tools.report(Progress("make", n, n, "entities"))

    def read(self, folder: Path, index: Index) -> WalkOperator:
        """Return the operator. Raises PartDamaged where the arrays are no matrix of this index."""
        from scipy.sparse import csr_array

        n_entities, n_chunks = len(index.layers[0]), index.chunks.num_rows
        matrices = []
        for matrix, shape in zip(_MATRICES, ((n_chunks, n_entities), (n_entities, n_chunks)), strict=True):
            try:
                arrays = [np.load(folder / f"{matrix}-{name}.npy", allow_pickle=False) for name in ARRAYS]
                transition = csr_array(tuple(arrays), shape=shape)
                transition.check_format(full_check=True)
            except (OSError, ValueError) as error:
                raise PartDamaged("part.of_another_index", part=self.name) from error
            matrices.append(transition)
        operator = WalkOperator(*matrices)
        return with_both_steps(operator) if n_entities > _STEP_BY_STEP_UP_TO else operator
