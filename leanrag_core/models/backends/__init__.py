"""One file for each model back-end, found by itself; its name is the part of a model's name before the colon."""
