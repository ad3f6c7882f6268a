"""Warm up a running target, load it with a load generator, and sample its programs."""
