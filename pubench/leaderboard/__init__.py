"""The public leaderboard: records are ranked, published as a site, and verified by running them again.

    records -> submission -> runs (BoardRuns) -> board (Board) -> export, site -> publish
       |                        task_results, ranking, pairs, significance, regret
       +-> verification: runs a record's spec again and compares

The board is made from records alone and can be rebuilt without running anything. Records may come from anybody, so all
of their texts are escaped where they are shown, and none of them becomes a file name.
"""
