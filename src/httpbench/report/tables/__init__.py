"""What tables show: rows, their order, columns, notes. Formats decide how it is written."""
