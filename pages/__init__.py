"""One file a page; what pages share lies in _shared."""
