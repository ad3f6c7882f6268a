"""Results that are committed to the repository: ``results/MACHINE/SUITE/`` with report, tables, data and analysis, and an index."""
