"""Kernel settings that httpbench can change for a measurement and restore."""
