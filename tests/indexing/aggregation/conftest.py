"""A base graph about beekeeping, made by hand from sentences, and cheap embeddings."""

import hashlib

import numpy as np
import pyarrow as pa
import pytest

from leanrag_core.types.graph import ENTITY_SCHEMA, RELATION_SCHEMA, Graph

MITE = "The varroa mite feeds on honey bee brood and weakens the whole colony within two seasons."
DWV = "Deformed wing virus is carried by the varroa mite and leaves young bees unable to fly."
OXALIC = "Oxalic acid is trickled between the combs in winter, when the colony has no brood, to kill the varroa mite."
FORMIC = "Formic acid evaporates in the hive and reaches mites under the cappings of brood cells."
FOULBROOD = "American foulbrood is a bacterial disease of brood caused by Paenibacillus larvae."
INSPECT = "An inspector must be told of American foulbrood, and infected combs are burned."
EXTRACT = "Honey is spun from uncapped combs in an extractor and strained before it is bottled."
UNCAP = "The wax cappings are cut off with an uncapping knife before the combs go into the extractor."
HEATHER = "Heather honey is too thick for an ordinary extractor and is pressed from the combs."
WATER = "Honey with more than eighteen percent water ferments, so beekeepers test it with a refractometer."
MARKET = "Bottled honey is sold at the Saturday market in Keswick by the Lakeland Beekeepers Association."
QUEEN = "The queen lays up to two thousand eggs a day and keeps the colony together by her pheromone."
REAR = "Queen rearing starts with grafting larvae into cups that nurse bees fill with royal jelly."
GRAFT = "A grafting tool lifts larvae younger than a day without harming them."
MATING = "Young queens leave the mating nuc on warm afternoons and mate with drones of other colonies."
SWARM = "A crowded colony swarms: the old queen leaves with half of the workers to found a new home."

ENTITIES = [
    ("varroa mite", "organism", [MITE, DWV, OXALIC]),
    ("honey bee brood", "organism", [MITE]),
    ("deformed wing virus", "disease", [DWV]),
    ("oxalic acid", "substance", [OXALIC]),
    ("formic acid", "substance", [FORMIC]),
    ("brood cells", "concept", [FORMIC]),
    ("American foulbrood", "disease", [FOULBROOD, INSPECT]),
    ("Paenibacillus larvae", "organism", [FOULBROOD]),
    ("inspector", "person", [INSPECT]),
    ("infected combs", "concept", [INSPECT]),
    ("honey", "product", [EXTRACT, WATER, MARKET]),
    ("extractor", "product", [EXTRACT, UNCAP, HEATHER]),
    ("uncapping knife", "product", [UNCAP]),
    ("wax cappings", "product", [UNCAP]),
    ("heather honey", "product", [HEATHER]),
    ("refractometer", "product", [WATER]),
    ("Lakeland Beekeepers Association", "organization", [MARKET]),
    ("Keswick", "location", [MARKET]),
    ("queen", "organism", [QUEEN, SWARM]),
    ("pheromone", "substance", [QUEEN]),
    ("queen rearing", "method", [REAR]),
    ("royal jelly", "substance", [REAR]),
    ("grafting tool", "product", [GRAFT]),
    ("larvae", "organism", [GRAFT, REAR]),
    ("mating nuc", "product", [MATING]),
    ("drones", "organism", [MATING]),
    ("workers", "organism", [SWARM]),
]
RELATIONS = [
    ("varroa mite", "honey bee brood", "verb", "feed on", MITE),
    ("deformed wing virus", "varroa mite", "verb", "carry", DWV),
    ("oxalic acid", "varroa mite", "verb", "kill", OXALIC),
    ("formic acid", "brood cells", "verb", "reach", FORMIC),
    ("formic acid", "honey bee brood", "co-occurrence", "", FORMIC),
    ("American foulbrood", "Paenibacillus larvae", "verb", "cause", FOULBROOD),
    ("inspector", "American foulbrood", "verb", "tell", INSPECT),
    ("inspector", "infected combs", "co-occurrence", "", INSPECT),
    ("honey", "extractor", "verb", "spin", EXTRACT),
    ("wax cappings", "uncapping knife", "verb", "cut", UNCAP),
    ("extractor", "uncapping knife", "co-occurrence", "", UNCAP),
    ("heather honey", "extractor", "co-occurrence", "", HEATHER),
    ("honey", "refractometer", "verb", "test", WATER),
    ("honey", "Lakeland Beekeepers Association", "verb", "sell", MARKET),
    ("Keswick", "Lakeland Beekeepers Association", "co-occurrence", "", MARKET),
    ("queen", "pheromone", "co-occurrence", "", QUEEN),
    ("queen rearing", "royal jelly", "co-occurrence", "", REAR),
    ("queen rearing", "larvae", "verb", "start with", REAR),
    ("grafting tool", "larvae", "verb", "lift", GRAFT),
    ("drones", "mating nuc", "co-occurrence", "", MATING),
    ("queen", "workers", "verb", "leave with", SWARM),
    ("larvae", "Paenibacillus larvae", "co-occurrence", "", FOULBROOD),
    ("queen", "honey bee brood", "co-occurrence", "", QUEEN),
    ("infected combs", "extractor", "co-occurrence", "", EXTRACT),
]


def make_graph(entities, relations, chunks=None):
    """Return a base graph made from (name, type, sentences) and (source, target, kind, keyword, sentence)."""
    row_of = {name: row for row, (name, _, _) in enumerate(entities)}
    ends = [tuple(sorted((row_of[source], row_of[other]))) for source, other, *_ in relations]
    entity_rows = [
        {
            "id": f"entity-{row}",
            "name": name,
            "type": type_,
            "description": " ".join(texts),
            "findings": [],
            "chunks": chunks[row] if chunks else [row % 4],
            "promoted": False,
        }
        for row, (name, type_, texts) in enumerate(entities)
    ]
    relation_rows = [
        {
            "id": f"relation-{row}",
            "source": ends[row][0],
            "target": ends[row][1],
            "weight": 1.0,
            "strength": 1,
            "kind": kind,
            "description": sentence,
            "keywords": [keyword] if keyword else [],
            "chunks": [0],
            "members": [],
        }
        for row, (_, _, kind, keyword, sentence) in enumerate(relations)
    ]
    return Graph(
        pa.Table.from_pylist(entity_rows, schema=ENTITY_SCHEMA),
        pa.Table.from_pylist(relation_rows, schema=RELATION_SCHEMA),
    )


def word_vector(word):
    seed = int.from_bytes(hashlib.sha256(word.encode()).digest()[:4], "big")
    return np.random.default_rng(seed).normal(size=48)


def embed_words(texts):
    """Return the sum of hashed random word vectors: texts with words in common lie close together."""
    rows = np.array([sum(word_vector(word) for word in text.lower().split()) for text in texts])
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


@pytest.fixture
def beekeeping():
    return make_graph(ENTITIES, RELATIONS)


@pytest.fixture
def graph_of():
    return make_graph


@pytest.fixture
def embed():
    return embed_words
