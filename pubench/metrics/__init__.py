"""Metrics: estimated from PU labels alone, with intervals and comparisons, or computed from true labels."""
