"""Pure functions that summarize, compare and judge measurements. They never read files or clocks."""
