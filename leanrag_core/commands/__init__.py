"""The verbs of the command line, one file a family: each adds its own with add_verbs()."""
