"""`pubench bench`: a suite of runs, each in a process of its own, that leaves records, tables and figures.

    suite (TOML) -> planning (one job per run) -> isolation (a process with limits) -> records -> results, figures

An edge: it opens data sets, which may carry truth, and finds plugins by name. A method is handed the PU data of its
training fold alone, and truth is opened when it has scored.
"""
