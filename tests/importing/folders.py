"""Tiny folders in the layouts of other systems: three entities, two relations, two passages about bees."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

BEE_TEXT, MITE_TEXT = "Honey bees visit white clover.", "The Varroa mite weakens honey bees."
TEXT = f"{BEE_TEXT} {MITE_TEXT}"
BEE, CLOVER, MITE = "HONEY BEE", "WHITE CLOVER", "VARROA MITE"


def write_json(path: Path, value: object) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def graphml(nodes: dict[str, dict[str, str]], edges: list[tuple[str, str, dict[str, str]]]) -> str:
    keys = sorted({key for values in nodes.values() for key in values} | {key for *_, row in edges for key in row})
    declared = "".join(f'<key id="{key}" for="all" attr.name="{key}" attr.type="string"/>' for key in keys)

    def cells(values: dict[str, str]) -> str:
        return "".join(f'<data key="{key}">{escaped(value)}</data>' for key, value in values.items())

    drawn = [f'<node id="{escaped(id_)}">{cells(values)}</node>' for id_, values in nodes.items()]
    drawn += [
        f'<edge source="{escaped(source)}" target="{escaped(target)}">{cells(values)}</edge>'
        for source, target, values in edges
    ]
    head = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
    return f'{head}{declared}<graph edgedefault="undirected">{"".join(drawn)}</graph></graphml>'


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace('"', "&quot;")


def lightrag(folder: Path) -> Path:
    """Write a working folder of LightRAG."""
    nodes = {
        "Honey bee": {
            "entity_type": "animal",
            "description": "Honey bees live in colonies.<SEP>They make honey.",
            "source_id": "chunk-1<SEP>chunk-2",
        },
        "White clover": {"entity_type": "plant", "description": "A plant with nectar.", "source_id": "chunk-1"},
        "Varroa mite": {"entity_type": "animal", "description": "A parasite.", "source_id": "chunk-9"},
    }
    edges = [
        (
            "Honey bee",
            "White clover",
            {"weight": "4.0", "description": "Bees visit clover.", "keywords": "nectar, visit", "source_id": "chunk-1"},
        ),
        (
            "Varroa mite",
            "Honey bee",
            {"weight": "2.5", "description": "Mites weaken bees.", "keywords": "parasite", "source_id": "chunk-2"},
        ),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph_chunk_entity_relation.graphml").write_text(graphml(nodes, edges), encoding="utf-8")
    write_json(
        folder / "kv_store_text_chunks.json",
        {
            "chunk-2": {"content": MITE_TEXT, "chunk_order_index": 1, "full_doc_id": "doc-1"},
            "chunk-1": {"content": BEE_TEXT, "chunk_order_index": 0, "full_doc_id": "doc-1"},
        },
    )
    write_json(folder / "kv_store_full_docs.json", {"doc-1": {"content": TEXT, "file_path": "/home/me/bees.md"}})
    write_json(
        folder / "kv_store_entity_chunks.json", {"Varroa mite": {"chunk_ids": ["chunk-2"], "count": 1}, "Ant": None}
    )
    write_json(
        folder / "kv_store_llm_response_cache.json",
        {
            "default:extract:1": {
                "return": '("entity"<|>"Honey bee"<|>"animal"<|>"A bee.")##'
                '("entity"<|>"White clover"<|>"plant"<|>"A plant.")'
                '##("relationship"<|>"Honey bee"<|>"White clover"<|>"Bees visit it."<|>7)<|COMPLETE|>',
                "cache_type": "extract",
                "chunk_id": "chunk-1",
            },
            "default:extract:2": {"return": '("entity"<|>"Varroa mite"<|>"animal"<|>"A mite.")<|COMPLETE|>'},
            "default:query:3": {"return": "An answer.", "cache_type": "query"},
        },
    )
    return folder


def nano_graphrag(folder: Path) -> Path:
    """Write a working folder of nano-graphrag: names in quotes, clusters of two levels, a report."""
    bee, clover, mite = (f'"{name}"' for name in (BEE, CLOVER, MITE))
    root, below = '{"level": 0, "cluster": 0}', '{"level": 1, "cluster": 1}'

    def node(description: str, chunk: str, clusters: str) -> dict[str, str]:
        return {"entity_type": '"ANIMAL"', "description": f'"{description}"', "source_id": chunk, "clusters": clusters}

    nodes = {
        bee: node("Bees make honey.", "chunk-1<SEP>chunk-2", f"[{root}, {below}]"),
        clover: node("A plant.", "chunk-1", f"[{root}, {below}]"),
        mite: node("A parasite.", "chunk-2", f"[{root}]"),
    }
    edges = [
        (bee, clover, {"weight": "8.0", "description": '"Bees visit clover."', "source_id": "chunk-1"}),
        (mite, mite, {"weight": "1.0", "description": '"Itself."', "source_id": "chunk-2"}),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "graph_chunk_entity_relation.graphml").write_text(graphml(nodes, edges), encoding="utf-8")
    write_json(
        folder / "kv_store_text_chunks.json",
        {
            "chunk-1": {"content": BEE_TEXT, "chunk_order_index": 0, "full_doc_id": "doc-1"},
            "chunk-2": {"content": MITE_TEXT, "chunk_order_index": 1, "full_doc_id": "doc-1"},
        },
    )
    write_json(folder / "kv_store_full_docs.json", {"doc-1": {"content": TEXT}})
    report = {
        "title": "Bees and their enemies",
        "summary": "Bees visit plants and are weakened by mites.",
        "rating": 7.5,
        "findings": [{"summary": "Bees visit clover", "explanation": "They take nectar."}],
    }
    write_json(
        folder / "kv_store_community_reports.json",
        {"0": {"report_string": "# Bees", "report_json": report, "level": 0, "title": "Cluster 0", "nodes": []}},
    )
    return folder


def graphrag(folder: Path, *, old: bool = False) -> Path:
    """Write tables of Microsoft GraphRAG, under the names and in the columns of version 2, or those of version 0.3."""
    prefix = "create_final_" if old else ""
    folder.mkdir(parents=True, exist_ok=True)

    def table(name: str, rows: list[dict[str, Any]]) -> None:
        pq.write_table(pa.Table.from_pylist(rows), folder / f"{prefix}{name}.parquet")

    name = "name" if old else "title"
    names = {"e1": BEE, "e2": CLOVER, "e3": MITE}
    units = {"e1": ["t1", "t2"], "e2": ["t1"], "e3": ["t2"]}
    table(
        "entities",
        [
            {
                "id": id_,
                name: entity,
                "type": "ANIMAL",
                "description": f"About {entity.lower()}.",
                "text_unit_ids": units[id_],
                "description_embedding": [0.0, 1.0],
            }
            for id_, entity in names.items()
        ],
    )
    table(
        "relationships",
        [
            {
                "id": "r1",
                "source": BEE,
                "target": CLOVER,
                "description": "Visits.",
                "weight": 3.0,
                "text_unit_ids": ["t1"],
            },
            {
                "id": "r2",
                "source": MITE,
                "target": BEE,
                "description": "Weakens.",
                "weight": 2.0,
                "text_unit_ids": ["t2"],
            },
            {"id": "r3", "source": MITE, "target": "GONE", "description": "x", "weight": 1.0, "text_unit_ids": ["t2"]},
        ],
    )
    document = {"document_ids": ["d1"]} if old else {"document_id": "d1"}
    table(
        "text_units",
        [{"id": "t1", "text": BEE_TEXT, **document}, {"id": "t2", "text": MITE_TEXT, **document}],
    )
    table("documents", [{"id": "d1", "title": "bees.txt", ("raw_content" if old else "text"): TEXT}])
    finding = {"summary": "Bees visit clover", "explanation": "They take nectar."}
    report = {"title": "Bees", "summary": "Bees and mites.", "rank": 6.0, "findings": [finding]}
    if old:
        table("communities", [{"id": "0", "title": "Community 0", "level": "0", "relationship_ids": ["r1", "r2"]}])
        table("nodes", [{"title": entity, "community": "0", "level": 0} for entity in names.values()])
        table("community_reports", [{"community": "0", **report, "findings": json.dumps([finding])}])
        return folder
    table(
        "communities",
        [
            {"id": "u0", "community": 0, "level": 0, "parent": -1, "title": "C 0", "entity_ids": list(names)},
            {"id": "u1", "community": 1, "level": 1, "parent": 0, "title": "C 1", "entity_ids": ["e1", "e2", "e9"]},
            {"id": "u2", "community": 2, "level": 1, "parent": 0, "title": "C 2", "entity_ids": ["e9"]},
        ],
    )
    table("community_reports", [{"id": "x", "community": 0, **report}])
    claim = {"type": "HARM", "status": "TRUE", "description": "Mites harm bees.", "text_unit_id": "t2"}
    table(
        "covariates",
        [{"id": "c1", "subject_id": MITE, "object_id": BEE, **claim}, {"id": "c2", "subject_id": "GONE", **claim}],
    )
    return folder


def leanrag(folder: Path) -> Path:
    """Write the files of LeanRAG's published code, with a hierarchy of two layers."""
    folder.mkdir(parents=True, exist_ok=True)
    entities = [
        {
            "entity_name": "Honey bee",
            "description": "Makes honey. | Makes honey. | Lives in colonies.",
            "source_id": "a|b",
        },
        {"entity_name": "Varroa mite", "description": "A parasite.", "source_id": "b"},
        {"entity_name": "honey bee", "description": "", "source_id": "a"},
    ]
    relation = {"src_tgt": "Varroa mite", "tgt_src": "Honey bee", "source": "weakens", "description": "It weakens it."}
    (folder / "entity.jsonl").write_text("\n\n".join(map(json.dumps, entities)), encoding="utf-8")
    (folder / "relation.jsonl").write_text(json.dumps({**relation, "weight": 1, "source_id": "b"}), encoding="utf-8")
    write_json(
        folder / "bees_chunk.json", [{"hash_code": "a", "text": BEE_TEXT}, {"hash_code": "b", "text": MITE_TEXT}]
    )
    write_json(folder / "match_words_bees_chunk.jsonl", {"text": "not a passage"})
    layers = [
        json.dumps([{"entity_name": "Honey bee"}, {"entity_name": "Varroa mite"}]),
        json.dumps({"entity_name": "x"}),
    ]
    (folder / "all_entities.json").write_text("\n".join(layers), encoding="utf-8")
    (folder / "generate_relations.json").write_text('{"src_tgt": "a"}\n{"src_tgt": "b"}\n', encoding="utf-8")
    return folder


def hipporag(folder: Path) -> Path:
    """Write a file of HippoRAG's open information extraction."""
    docs = [
        {
            "idx": "chunk-1",
            "passage": BEE_TEXT,
            "extracted_entities": ["honey bees", "white clover"],
            "extracted_triples": [["honey bees", "visit", "white clover"], ["broken"]],
        },
        {
            "idx": "chunk-2",
            "passage": MITE_TEXT,
            "extracted_entities": ["Varroa mite", "Varroa mite"],
            "extracted_triples": [["Varroa mite", "weakens", "honey bees"]],
        },
        "no object",
    ]
    write_json(folder / "openie_results_ner_model.json", {"docs": docs, "avg_ent_chars": 9})
    return folder
