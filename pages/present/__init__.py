"""The parts of the Present page."""
