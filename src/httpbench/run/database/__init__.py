"""Choose a target's database and the database's cores; start, query and stop the database."""
