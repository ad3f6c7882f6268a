"""Make the trials of a run, round by round, and store each of them."""
