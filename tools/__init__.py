"""Programs that only this repository uses: generated pages, schemas and published results."""
