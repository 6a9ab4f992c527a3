"""From records to a public board, and the proof that its records can be made again.

    records -> Evidence -> Board -> data files and pages -> published
       |
       +-> verified: run again from their own specs, and compared

Only records go in: the board can be rebuilt without running anything. Records may come from anybody, so every text of
theirs is escaped where it is shown and never names a file.
"""
