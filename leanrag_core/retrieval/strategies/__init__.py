"""One file a strategy; a file here is found by itself."""
