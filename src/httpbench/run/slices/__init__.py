"""Run rounds in which targets take turns. All targets are started, and each one is measured in short slices while the others are frozen."""
