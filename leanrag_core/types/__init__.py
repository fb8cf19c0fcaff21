"""Frozen values that cross a room's threshold."""
