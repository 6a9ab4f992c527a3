"""Base learners: binary classifiers whose defaults hold at one positive in a thousand rows."""
