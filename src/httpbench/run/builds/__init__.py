"""Build targets, report which ones are built, and find what is missing to build them."""
