"""The command palette: a field on every page that finds pages, indexes, entities, questions, settings and actions."""
