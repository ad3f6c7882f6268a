"""Databases for targets: which one, on which cores, from its start to its end."""
