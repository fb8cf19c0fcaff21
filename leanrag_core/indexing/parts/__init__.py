"""One file an index part; a file here is found by itself."""
