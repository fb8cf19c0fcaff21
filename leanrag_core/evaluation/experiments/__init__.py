"""Experiments: runs over the questions of a set, stored as they are done, the same whenever they are repeated."""
