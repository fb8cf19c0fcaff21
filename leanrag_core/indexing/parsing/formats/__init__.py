"""One file for each document format, found by itself: SUFFIXES, MEDIA_TYPE, and parse() or, for archives, members()."""
