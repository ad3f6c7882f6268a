"""Analysis of a run or of a comparison of runs: tables, ranks, changes, gates and history as typed values.

Nothing here writes sentences, rounds numbers or depends on a medium. ``httpbench.report`` does that.
"""
