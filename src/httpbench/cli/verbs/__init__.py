"""The verbs, with one module for each."""
