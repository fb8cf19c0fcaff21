"""Several retrievals of the same question side by side: what they share, and where each lost its evidence."""
