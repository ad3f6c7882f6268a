"""Results that are kept in a repository: ``results/MACHINE/SUITE/`` with report, tables, data and analysis, and an index of all."""
