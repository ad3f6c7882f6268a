"""Options that several verbs share, and the values that they accept."""
