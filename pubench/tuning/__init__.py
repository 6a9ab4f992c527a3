"""The search for a good configuration, from PU labels alone.

    plugins -> search_space (configurations) -> inner (folds) -> judging (AUL_PU of a configuration, fold by fold) -> racing (stop?)
            -> workers (a process apart) -> study (ask, judge, tell) -> outcome (final models, holdout)

Truth is out of reach: see the seal in tests/repo/test_layers.py.
"""
