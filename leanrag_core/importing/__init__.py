"""Graphs that were made elsewhere, read into the base graph of an index. One file a format in formats/."""
