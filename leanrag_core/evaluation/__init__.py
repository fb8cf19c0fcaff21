"""Measures of retrieval and answers against questions with gold evidence."""
