"""Everything that writes to the terminal: console, progress, plans."""
