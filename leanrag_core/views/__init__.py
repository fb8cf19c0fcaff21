"""What views of an index show, as values for the scripts that draw them. `say` writes their sentences."""
