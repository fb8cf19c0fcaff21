"""The parts of the Build page."""
