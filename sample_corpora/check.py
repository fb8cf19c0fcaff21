"""Checks the reference graph of a sample corpus: python -m sample_corpora.check NAME [--text DOCUMENT]

Lists how many entities and relations quote each document, and everything that is wrong. --text prints a document as
the program reads it, from which quotes are taken. The exit status is 1 when anything is wrong.
"""

import argparse
import sys
from pathlib import Path

from leanrag_core.errors import LeanRAGError
from leanrag_core.indexing.reading import read_files
from leanrag_core.indexing.reference.faults import faults, naming_faults, quote_faults, quoted_documents
from leanrag_core.indexing.reference.records import read_reference
from leanrag_core.messages.catalog import sentence
from leanrag_core.types.corpus import Document

ROOT = Path(__file__).parent


def documents_of(corpus: str) -> tuple[Document, ...]:
    """The parsed documents of a sample corpus."""
    return read_files([ROOT / corpus / "documents"]).documents


def check(corpus: str) -> int:
    """Prints what the reference graph holds and what is wrong with it; returns the number of faults."""
    graph, documents = read_reference(ROOT / corpus / "reference"), documents_of(corpus)
    too_few = 0
    print("entities relations document")
    for quoted in quoted_documents(graph, [document.name for document in documents]):
        too_few += not quoted.enough
        print(f"{quoted.entities:8} {quoted.relations:9} {quoted.document}{'' if quoted.enough else '   TOO FEW'}")
    print(f"{len(graph.entities):8} {len(graph.relations):9} in all; ", end="")
    print(f"{len(graph.aggregated_entities)} aggregated entities, {len(graph.aggregated_relations)} relations")
    wrong = [sentence(fault) for fault in (*faults(graph), *naming_faults(graph), *quote_faults(graph, documents))]
    for line in wrong:
        print("-", line)
    return len(wrong) + too_few


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="sample_corpora.check", description=__doc__)
    parser.add_argument("corpus")
    parser.add_argument("--text", metavar="DOCUMENT", help="print this document as it is parsed")
    options = parser.parse_args()
    try:
        if options.text:
            print("\n\n".join(each.text for each in documents_of(options.corpus) if each.name == options.text))
            return 0
        return int(check(options.corpus) > 0)
    except LeanRAGError as error:
        print(error, file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
