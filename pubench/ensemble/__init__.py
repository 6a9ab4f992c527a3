"""ProbTagging: tag unlabeled rows by chance, train a member on each tagging, take the mean.

Affinity -> tagging (labels of member j) -> pubench.api.trainer (members, in parallel) -> convergence (enough?) -> mean
"""
