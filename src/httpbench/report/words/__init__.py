"""Every sentence, title and number that a report shows, independent of the medium."""
