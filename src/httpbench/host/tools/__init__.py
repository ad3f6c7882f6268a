"""Installed programs, their versions, and commands that install missing ones."""
