"""A run in each form: on a terminal, and as files. One module for each format."""
