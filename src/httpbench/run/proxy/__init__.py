"""TCP proxies: one trial, with a backend behind it, and the check of the contract."""
