"""Checks of a stored index; one file for each kind of check."""
