"""HTTP servers: one trial, and the check of the contract."""
