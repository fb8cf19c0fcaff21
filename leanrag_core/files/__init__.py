"""What is written to the disk: whole files, records, and for the owner alone."""
