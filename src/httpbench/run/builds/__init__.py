"""Build targets, report which ones are built, and find the requirements that are missing."""
