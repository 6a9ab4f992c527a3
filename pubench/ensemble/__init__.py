"""ProbTagging: tag unlabeled rows by chance, train a member on each tagging, take the mean.

`members` has the three steps; `blend` adds up models of different methods by their ranks.
"""
