"""Decide what a run measures: targets, loads, trials and their order. Check that the trials are possible."""
