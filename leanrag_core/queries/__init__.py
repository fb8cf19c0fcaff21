"""Read-only questions to an opened index and to lists of indexes: browse, search by name, titles."""
