"""Puts a load on a running target: warm-up, the load generator, and what is watched meanwhile."""
