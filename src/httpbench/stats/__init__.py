"""Pure functions over measurements: summaries, intervals, comparisons, merged histograms, verdicts. No files, no clocks."""
