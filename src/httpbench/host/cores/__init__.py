"""The division of this machine's cores between programs."""
