"""Run a trial of an HTTP server, or check its contract."""
