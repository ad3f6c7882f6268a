"""Put a load on a running target: warm-up, load generator, and sampling."""
