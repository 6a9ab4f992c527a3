"""Evaluation: what a PU table tells about a model, how sure it is, and what only the truth could tell."""
