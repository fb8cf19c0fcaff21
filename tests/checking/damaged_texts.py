"""Damage to texts, names and ids."""

from tests.checking.damage import damage, row_of
from tests.checking.stored import Stored


@damage("vectors of texts", "vectors-0.npy")
def a_description_changed(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 3, "It is made of green cheese and tax law.")
    stored.counted_again()
    return 3


@damage("stored token counts", "entities-0.arrow")
def a_description_made_longer(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 3, lambda text: f"{text} Indeed.")
    return 3


@damage("entity texts", "entities-0.arrow")
def a_description_emptied(stored: Stored) -> int:
    stored.change("entities-0.arrow", "description", 4, "")
    stored.counted_again()
    return 4


@damage("vectors of texts", "vectors-1.npy")
def the_description_of_an_aggregated_entity_changed(stored: Stored) -> int:
    stored.change("entities-1.arrow", "description", 2, "On the taxation of green cheese.")
    stored.counted_again()
    return 2


@damage("relation texts", "relations-1.arrow")
def the_description_of_a_base_relation_changed(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    member = stored.cells("relations-1.arrow", "members")[row][0]
    stored.change("relations-0.arrow", "description", member, "They never met.")
    stored.counted_again()
    return row


@damage("relation texts", "relations-1.arrow")
def a_concatenated_description_changed(stored: Stored) -> int:
    row = row_of(stored, "concatenated")
    stored.change("relations-1.arrow", "description", row, lambda text: f"{text} They never met.")
    stored.counted_again()
    return row


@damage("relation texts", "relations-1.arrow")
def a_summarised_description_emptied(stored: Stored) -> int:
    row = row_of(stored, "summarised")
    stored.change("relations-1.arrow", "description", row, "")
    stored.counted_again()
    return row


@damage("names", "entities-1.arrow")
def an_aggregated_name_that_is_a_members(stored: Stored) -> int:
    index = stored.index()
    name = index.layers[0].entity(int(index.children_of(1, 2)[0])).name
    stored.change("entities-1.arrow", "name", 2, f" {name.upper()} ")
    stored.counted_again()
    return 2


@damage("entity texts", "entities-1.arrow")
def a_name_emptied(stored: Stored) -> int:
    stored.change("entities-1.arrow", "name", 1, " ")
    return 1


@damage("entity texts", "entities-1.arrow")
def the_summary_of_a_finding_emptied(stored: Stored) -> int:
    stored.change("entities-1.arrow", "findings", 0, lambda findings: [{**findings[0], "summary": ""}, *findings[1:]])
    stored.counted_again()
    return 0


@damage("names", "entities-1.arrow")
def a_cluster_said_to_be_promoted(stored: Stored) -> int:
    stored.change("entities-1.arrow", "promoted", 3, True)
    return 3


@damage("ids from content", "entities-0.arrow")
def an_entity_renamed(stored: Stored) -> int:
    stored.change("entities-0.arrow", "name", 5, "Somebody Else")
    stored.counted_again()
    return 5


@damage("ids", "entities-0.arrow")
def an_id_twice_in_a_layer(stored: Stored) -> int:
    stored.change("entities-0.arrow", "id", 6, stored.cells("entities-0.arrow", "id")[5])
    return 6


@damage("ids", "entities-1.arrow")
def an_id_twice_in_two_layers(stored: Stored) -> int:
    stored.change("entities-1.arrow", "id", 1, stored.cells("entities-0.arrow", "id")[5])
    return 1


@damage("ids", "relations-1.arrow")
def the_id_of_a_relation_twice_in_two_layers(stored: Stored) -> int:
    stored.change("relations-1.arrow", "id", 1, stored.cells("relations-0.arrow", "id")[5])
    return 1


@damage("ids", "chunks.arrow")
def an_id_emptied(stored: Stored) -> int:
    stored.change("chunks.arrow", "id", 1, "")
    return 1


@damage("ids from content", "documents.arrow")
def the_text_of_a_document_changed(stored: Stored) -> int:
    stored.change("documents.arrow", "text", 0, lambda text: text.replace("Marie", "Maria"))
    return 0


@damage("id of the index", "manifest.json")
def a_document_renamed(stored: Stored) -> None:
    stored.change("documents.arrow", "name", 0, "other.md")


@damage("id of the index", "manifest.json")
def the_id_of_the_index_changed(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest.update(id="index-0123456789abcdef"))


@damage("id of the index", "manifest.json")
def the_kind_of_the_graph_falsified(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest.update(kind="LLM graph"))


@damage("id of the index", "manifest.json")
def tau_in_the_configuration_falsified(stored: Stored) -> None:
    stored.record("manifest.json", lambda manifest: manifest["config"].update(tau=7))
