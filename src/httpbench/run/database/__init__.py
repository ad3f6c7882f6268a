"""Runs the databases that targets ask: which one, on which cores, from its start to its end."""
