"""Options that several verbs share, and the values they accept."""
