"""Sweeps: points of varied settings, what each rebuilds, and what can be said of the results."""
