"""Frozen values that modules pass to each other."""
