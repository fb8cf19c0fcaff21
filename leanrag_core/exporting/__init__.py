"""Indexes written for other programs. One file a format in formats/."""
