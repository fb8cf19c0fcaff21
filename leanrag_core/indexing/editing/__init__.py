"""Edits by hand, replayed on what was extracted."""
