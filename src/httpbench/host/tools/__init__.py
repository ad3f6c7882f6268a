"""Which programs are installed, in which versions, and what installs the others."""
