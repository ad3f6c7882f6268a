"""What this machine is, and what of it must match before two runs are compared."""
