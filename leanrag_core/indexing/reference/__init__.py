"""Reference graphs: entities and relations written by hand, each anchored to quotes of the documents."""
