"""Clustering as pure functions of arrays: the Gaussian mixture of the hierarchy."""
