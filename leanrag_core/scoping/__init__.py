"""Questions in scope: an index cut to some of its documents, as an index of them alone would be."""
