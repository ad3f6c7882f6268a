"""Run a trial of a proxy in front of a backend, or check the proxy's contract."""
