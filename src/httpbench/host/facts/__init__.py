"""Facts about this machine, some of which must match before two runs can be compared."""
