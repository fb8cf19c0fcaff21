"""One file for each measure, found by itself."""
