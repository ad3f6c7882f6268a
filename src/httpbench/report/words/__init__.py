"""Every sentence, title and number that reports show, independent of the output format."""
