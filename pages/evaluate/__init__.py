"""The parts of the Evaluate page."""
