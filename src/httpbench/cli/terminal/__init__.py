"""Output to the terminal: the console, the progress of a run, and its plan."""
