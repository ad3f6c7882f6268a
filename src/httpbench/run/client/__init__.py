"""Run a trial of an HTTP client, or check its contract, against a reference server."""
