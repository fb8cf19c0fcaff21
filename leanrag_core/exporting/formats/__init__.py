"""Formats of exports, one file each; see exporting.base."""
