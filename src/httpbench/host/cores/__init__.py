"""Which program gets which cores of this machine."""
