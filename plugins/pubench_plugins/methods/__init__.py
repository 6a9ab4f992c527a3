"""Methods: ways to learn from positive and unlabeled rows."""
