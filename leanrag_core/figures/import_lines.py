"""What an import would make and leave out, as lines of a table."""

from leanrag_core.messages.message import Message, message
from leanrag_core.types.imported import ImportPreview


def import_lines(preview: ImportPreview) -> tuple[tuple[Message, int], ...]:
    """Return title and number of each line; what is usual at 0 is left out."""
    counts = preview.counts
    made = (
        (message("import.line.documents"), preview.documents),
        (message("import.line.chunks"), preview.chunks),
        (message("import.line.entities"), preview.entities),
        (message("import.line.relations"), preview.relations),
    )
    others = (
        (message("import.line.communities"), preview.communities),
        (message("import.line.reports"), preview.reports),
        (message("import.line.claims"), preview.claims),
        (message("import.line.entity_rows"), counts.entity_rows),
        (message("import.line.relation_rows"), counts.relation_rows),
        (message("import.line.duplicate_entities"), counts.duplicate_entities),
        (message("import.line.other_spellings"), counts.other_spellings),
        (message("import.line.duplicate_relations"), counts.duplicate_relations),
        (message("import.line.empty_descriptions"), counts.empty_descriptions),
        (message("import.line.unknown_chunks"), counts.unknown_chunks),
        (message("import.line.left_out"), counts.left_out),
        (message("import.line.dangling"), counts.dangling),
        (message("import.line.self_loops"), counts.self_loops),
    )
    return (*made, *(line for line in others if line[1]))
