"""Mapping work over workers; every way gives the same results in the same order."""
