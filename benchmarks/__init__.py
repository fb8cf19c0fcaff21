"""Measurements that anyone can repeat: `python -m benchmarks SECTION [--sizes 1000,5000] [--peers]`."""
