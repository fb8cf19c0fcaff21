"""Damage to counts, places, the report and the search index."""

from collections.abc import Callable
from typing import Any

import numpy as np

from leanrag_core.storage.search_connection import SearchPlace, connect_to_files
from tests.checking.damage import damage
from tests.checking.stored import Stored


@damage("stored token counts", "entities-1.arrow")
def a_token_column_of_entities_changed(stored: Stored) -> int:
    stored.change("entities-1.arrow", "findings_tokens", 1, 3)
    return 1


@damage("stored token counts", "relations-0.arrow")
def a_token_column_of_relations_changed(stored: Stored) -> int:
    stored.change("relations-0.arrow", "relation_tokens", 11, lambda count: count + 1)
    return 11


@damage("stored places", "chunks.arrow")
def the_context_tokens_of_a_chunk_changed(stored: Stored) -> int:
    stored.change("chunks.arrow", "context_tokens", 2, 5)
    return 2


@damage("chunk spans", "chunks.arrow")
def the_tokens_of_a_chunk_changed(stored: Stored) -> int:
    stored.change("chunks.arrow", "tokens", 1, lambda count: count - 1)
    return 1


@damage("stored places", "chunks.arrow")
def the_bytes_of_a_chunk_moved(stored: Stored) -> int:
    """Move the bytes of a chunk, so that the wrong text would be shown."""
    stored.change("chunks.arrow", "start_byte", 1, lambda at: at + 4)
    return 1


@damage("ids from content", "chunks.arrow")
def a_chunk_moved_with_all_that_counts_it(stored: Stored) -> int:
    for column in ("start", "start_byte"):
        stored.change("chunks.arrow", column, 0, lambda at: at + 1)
    return 0


@damage("counts", "manifest.json")
def a_count_of_the_manifest_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["counts"].update(documents=3))


@damage("counts", "manifest.json")
def a_count_of_a_layer_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["layers"][1].update(components=1, summarised=4))


@damage("clusters in the report", "report.json")
def tau_in_the_report_falsified(stored: Stored) -> None:
    stored.record("report.json", lambda report: report["clustering"][0].update(tau=3.0))


@damage("clusters in the report", "report.json")
def the_clusters_in_the_report_miscounted(stored: Stored) -> None:
    stored.record("report.json", lambda report: report["clustering"][1].update(relations_inside=40))


@damage("build report", "report.json")
def more_drops_listed_than_counted(stored: Stored) -> None:
    stored.record("report.json", lambda report: report.update(dropped={"parse": [{"item": "a", "reason": "b"}]}))


@damage("build report", "report.json")
def an_empty_chunk_that_is_none(stored: Stored) -> None:
    stored.record("report.json", lambda report: report.update(empty_chunks=["chunk-0000000000000000"]))


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_of_chroma_changed(stored: Stored) -> int:
    with_chroma(stored, lambda client: client.upsert(ids=["4"], embeddings=[np.eye(384)[0].tolist()]))
    return 4


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_of_chroma_deleted(stored: Stored) -> int:
    with_chroma(stored, lambda client: client.delete(ids=["5"]))
    return 5


@damage("search index", "parts/chroma/*/chroma.sqlite3")
def a_row_more_in_chroma(stored: Stored) -> None:
    with_chroma(stored, lambda client: client.upsert(ids=["99"], embeddings=[np.eye(384)[0].tolist()]))


@damage("search index", "parts/chroma/*/search.json")
def the_rows_of_the_search_index_miscounted(stored: Stored) -> None:
    stored.record(stored.search_file("search.json"), lambda search: search["layers"][0].update(rows=21))


def with_chroma(stored: Stored, do: Callable[[Any], None]) -> None:
    connection = connect_to_files(SearchPlace(stored.folder, stored.search_folder))
    do(connection.client.get_collection("entities-0", embedding_function=None))
    connection.client.close()
