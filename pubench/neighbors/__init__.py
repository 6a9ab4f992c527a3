"""Exact search for labelled positives among the nearest rows: the numerical core of the kNN similarity."""
