"""What the workbench is made of: builds, questions, index parts, sample corpora, uploads."""
