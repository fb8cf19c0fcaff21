"""What jobs do, one file for each kind of job; the workbench says which work a kind has."""
