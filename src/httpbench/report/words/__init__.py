"""Every sentence, title and number that reports show, independent of the output format."""

ALWAYS = 0
"""``need`` of a column that is never omitted."""
