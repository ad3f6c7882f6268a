"""Rounds in which targets take turns: all are started, and each is measured in short slices while the others are frozen."""
