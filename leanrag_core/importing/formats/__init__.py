"""One file a format; each has a class Importer (see importing.base)."""
