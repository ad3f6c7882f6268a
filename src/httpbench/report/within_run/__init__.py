"""Targets of one run compared with each other, round by round."""
