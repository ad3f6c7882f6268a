"""Run the planned trials, round by round, and store each result."""
