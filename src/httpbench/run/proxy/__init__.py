"""Run a trial of a TCP proxy in front of a backend, or check the proxy's contract."""
