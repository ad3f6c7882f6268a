"""Checks for anything on this machine that would disturb a measurement."""
