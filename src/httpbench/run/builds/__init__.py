"""Builds targets, says which are built, and what is missing to build them."""
