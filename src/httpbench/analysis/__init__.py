"""What a run or a comparison of runs shows: tables, ranks, changes, gates and history as typed values.

Nothing here writes sentences, rounds numbers or knows a medium; ``httpbench.report`` does.
"""
