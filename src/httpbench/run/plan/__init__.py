"""Decide what a run measures: targets, loads, trials and their order, and whether they are possible."""
