"""How unlabeled rows resemble the labelled positives: one file per similarity."""
