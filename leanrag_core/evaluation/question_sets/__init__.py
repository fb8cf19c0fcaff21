"""Question sets: read from files, written, generated."""
