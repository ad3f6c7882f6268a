"""HTTP clients: one trial, and the check of the contract, both against a reference server."""
