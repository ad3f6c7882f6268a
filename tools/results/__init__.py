"""Results in the repository: an index, and the folders ``results/MACHINE/SUITE/`` with report, tables, data and analysis."""
