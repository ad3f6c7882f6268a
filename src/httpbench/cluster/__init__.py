"""Load generators on other hosts."""
