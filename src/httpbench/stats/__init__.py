"""Pure functions over measurements: summaries, intervals, comparisons, merged histograms, verdicts. They use no files and no clocks."""
