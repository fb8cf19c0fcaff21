"""The parts of the workbench's facade, one file for each subject."""
