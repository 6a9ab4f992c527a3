"""ProbTagging: tag unlabeled rows by chance, train a member on each tagging, take the mean.

Affinity -> tagging (labels of member j) -> pubench.ensembles (members, side by side) -> settling (enough?) -> mean
"""
