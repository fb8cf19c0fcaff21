"""What must hold of a stored index, verified; one file a kind of check."""
