"""The command palette: one field, on every page, that finds pages, indexes, entities, questions, settings, actions."""
