"""Changing an index: what a change does not touch is taken over."""
