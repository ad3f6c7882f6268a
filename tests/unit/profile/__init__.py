"""Tests of the package ``httpbench.profile``."""
