"""`pubench bench`: a suite of runs, each in a process of its own; the results are records, tables and figures.

    suite (TOML) -> plan (one job per run) -> runner -> executor -> job server: a process per job, with limits
                 -> records -> paper tables, figures

The entry is `runner`. This room opens data sets, which may carry truth, and finds plugins by name. A method gets the PU
data of its training fold alone, and truth is opened after it has scored.
"""
