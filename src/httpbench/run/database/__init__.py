"""Choose the database of a target and its cores, start it, query it, and stop it."""
