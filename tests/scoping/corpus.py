"""Five documents that name some things together and some alone; words ending in -ax, -ex, ... belong to one of them."""

from leanrag_core import Workbench
from leanrag_core.retrieval.base import strategies
from leanrag_core.strategy_contract import make_parts
from leanrag_core.types.config import IndexConfig
from leanrag_core.types.index import Index

FILES = {
    "mites.md": "# Mites\n\nVarroa destructor weakens honey bee colonies. Doctor Belomax treats Varroa destructor with "
    "oxalic acid in winter. Oxalic acid dissolves in syrup, as Belomax found at Quarmax.\n",
    "hives.md": "# Hives\n\nLorenzo Langstroth built movable frames. Honey bee colonies build comb in movable frames. "
    "Master Torvex sells movable frames at Hollenex. Torvex checks the frames for Varroa destructor.\n",
    "fields.md": "# Fields\n\nOilseed rape flowers in May. Honey bee colonies pollinate oilseed rape near Grundix. "
    "Farmer Wellix sows oilseed rape and white clover. White clover gives honey to Wellix.\n",
    "honey.md": "# Honey\n\nHoney is stored in comb. Trader Kastrox extracts honey from movable frames at Pondox. "
    "White clover honey sets slowly, says Kastrox. Oxalic acid occurs in honey.\n",
    "winter.md": "# Winter\n\nHoney bee colonies cluster in winter. Keeper Mirolux feeds syrup in autumn. Oxalic acid "
    "is used against Varroa destructor in winter by Mirolux. Syrup is kept at Sandlux.\n",
}
ENDINGS = dict(zip(FILES, ("ax", "ex", "ix", "ox", "ux"), strict=True))
MARKERS = {
    name: tuple(
        word
        for word in (
            "Belomax",
            "Quarmax",
            "Torvex",
            "Hollenex",
            "Grundix",
            "Wellix",
            "Kastrox",
            "Pondox",
            "Mirolux",
            "Sandlux",
        )
        if word.endswith(ending)
    )
    for name, ending in ENDINGS.items()
}
QUESTION = "What is oxalic acid used for in honey bee colonies, and who sells movable frames?"


def build(bench: Workbench) -> Index:
    """Build the index of the five documents, with every part that a strategy needs."""
    contents = [(name, text.encode()) for name, text in FILES.items()]
    built = bench.build(
        bench.add_documents("bees", contents).corpus_id, IndexConfig(cluster_size=3, chunk_tokens=50, overlap_tokens=5)
    )
    index = bench.indexes.open(built.folder_name)
    for info in strategies().strategies:
        make_parts(bench, index, info.name)
    return index
