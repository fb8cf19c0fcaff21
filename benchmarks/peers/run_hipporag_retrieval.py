"""What HippoRAG 2 as released retrieves: `python -m benchmarks.peers.run_hipporag_retrieval FOLDER OUT`.

`index` and `retrieve` run whole. In place of its extraction, a file in its own format has the triples of each passage:
the relations stated there, and for each entity that is mentioned there without a relation the entity with itself, which
joins the two as extraction would have. Such a triple adds no edge between entities; its vector gives it the lowest
score of all, so that it is never among the first five. The filter keeps all five facts, as our built-in way does.

The versions that the release asks for (vllm 0.6.6, torch 2.5.1 with CUDA, openai 1.91.1) need a graphics card or cannot
be had, so it is installed without its requirements, with the processor's build of torch.
"""

import ast
import importlib
import json
import sys
import tempfile
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from benchmarks.peers.given import Given, Retrieved, write_retrieved
from benchmarks.peers.prepared import versions

TITLE = "HippoRAG 2"
SECTION = "agreement"
REQUIREMENTS = (
    "torch",
    "transformers<5",
    "openai<2",
    "litellm",
    "igraph",
    "networkx",
    "tiktoken",
    "pydantic<3",
    "tenacity",
    "einops",
    "tqdm",
    "boto3",
    "pandas",
    "pyarrow",
    "numpy",
)
WITHOUT_REQUIREMENTS = ("hipporag==2.0.0a4", "gritlm==1.0.2")

_MODEL = "text-embedding-stub"  # a name that leads to its class for an embedding service, which calls nothing here


def plain_names(given: Given) -> list[str]:
    """Return the names as the release writes them: small letters and figures; they are different from each other."""
    return [
        "".join(sign if sign.isascii() and sign.isalnum() else " " for sign in entity.name.lower()).strip()
        for entity in given.entities
    ]


def triples(given: Given, names: list[str]) -> list[list[list[str]]]:
    """Return for each passage the triples in it, each once. The middle of a relation is its row."""
    listed: list[list[list[str]]] = [[] for _ in given.passages]
    joined = [set[int]() for _ in given.passages]
    for row, relation in enumerate(given.relations):
        for chunk in relation.chunks:
            listed[chunk].append([names[relation.source], f"relation {row}", names[relation.target]])
            joined[chunk].update((relation.source, relation.target))
    for row, entity in enumerate(given.entities):
        for chunk in entity.chunks:
            if row not in joined[chunk]:
                listed[chunk].append([names[row], "mention", names[row]])
    return listed


class Vectors:
    """The embedding model: entities, facts and passages by their text, questions with a last place for mentions."""

    def __init__(self, given: Given, names: list[str]) -> None:
        self.rows: dict[str, np.ndarray] = {}
        width = given.vectors["entities"].shape[1]
        self.mention = np.zeros(width + 1, dtype=np.float32)
        self.mention[width] = 1.0
        for texts, name in ((names, "names"), (given.passages, "chunks")):
            for text, vector in zip(texts, given.vectors[name], strict=True):
                self.rows.setdefault(text, np.append(vector, np.float32(0)))
        self.facts = np.pad(given.vectors["relations"], ((0, 0), (0, 1)))
        self.questions: dict[str, np.ndarray] = {}
        known = dict(zip(given.texts, given.vectors["texts"], strict=True))
        for question in given.questions:
            vector = known[question.text]
            lowest = (given.vectors["relations"] @ vector).min()
            self.questions[question.text] = np.append(vector, np.float32(lowest))

    def batch_encode(self, texts: Any, instruction: str = "", norm: bool = True, **_: Any) -> np.ndarray:
        """Return (texts, d + 1) float32; of a question's passages the last place is 0, since passages have none."""
        return np.stack([self._vector(text) for text in ([texts] if isinstance(texts, str) else texts)])

    def _vector(self, text: str) -> np.ndarray:
        if text in self.questions:
            return self.questions[text]
        if text in self.rows:
            return self.rows[text]
        _, middle, _ = ast.literal_eval(text)
        return self.mention if middle == "mention" else self.facts[int(middle.split()[1])]


def retrieve(given: Given, out: Path, folder: Path) -> None:
    """Index the passages, ask the questions, and write the answers."""
    # The release imports the engine of local models, which is not called here and needs a graphics card.
    sys.modules["vllm"] = ModuleType("vllm")
    sys.modules["vllm"].__dict__.update(SamplingParams=None, LLM=None)
    release = importlib.import_module("hipporag.HippoRAG")
    from hipporag.utils.config_utils import BaseConfig
    from hipporag.utils.misc_utils import compute_mdhash_id

    names = plain_names(given)
    vectors = Vectors(given, names)
    facts: list[list[int]] = []

    class Model:
        def infer(self, messages: list[dict[str, str]], **_: Any) -> Any:
            wanted = messages[-1]["content"].split("[[ ## fact_before_filter ## ]]\n", 1)[1].split("\n", 1)[0]
            facts.append([int(middle.split()[1]) for _, middle, _ in json.loads(wanted)["fact"]])
            return f"[[ ## fact_after_filter ## ]]\n{wanted}\n\n[[ ## completed ## ]]", {}, False

    # The two models are made by these functions of the release; nothing else of it is replaced.
    vars(release)["_get_llm_class"] = lambda config: Model()
    vars(release)["_get_embedding_model_class"] = lambda embedding_model_name: lambda **_: vectors
    config = BaseConfig(save_dir=str(folder), llm_name="stub", embedding_model_name=_MODEL)
    extracted = zip(given.passages, triples(given, names), strict=True)
    docs = [
        {"idx": compute_mdhash_id(text, "chunk-"), "passage": text, "extracted_entities": ["-"]}
        | {"extracted_triples": each}
        for text, each in extracted
    ]
    (folder / "openie_results_ner_stub.json").write_text(json.dumps({"docs": docs}), encoding="utf-8")
    rag = release.HippoRAG(global_config=config)
    rag.index(list(given.passages))
    row_of = {text: row for row, text in reversed(list(enumerate(given.passages)))}
    listed = []
    for question in given.questions:
        facts.clear()
        solution = rag.retrieve([question.text], num_to_retrieve=20)[0]
        listed.append(Retrieved(None, tuple(facts[0]), tuple(row_of[text] for text in solution.docs)))
    write_retrieved(out, {"retrieve": listed}, versions(("hipporag", "igraph", "torch", "numpy")))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as storage:
        retrieve(Given.load(Path(sys.argv[1])), Path(sys.argv[2]), Path(storage))
