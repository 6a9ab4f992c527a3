"""The search for a good configuration, from PU labels alone: `pubench tune`, and the tuned jobs of a suite.

    command -> request -> data set -> space -> run folder -> run -> output
    run: folds -> study (trial: trial_worker -> pruning) -> model choice -> final models -> result; budget divides the time

Only `command` and `run_files` reach data sets with true labels; see tests/repo/test_layers.py.
"""
