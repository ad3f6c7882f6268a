"""Analysis of a run or of a comparison of runs: tables, ranks, changes, gates and history as typed values.

This package doesn't write sentences, round numbers or depend on an output format. ``httpbench.report`` handles the presentation.
"""
