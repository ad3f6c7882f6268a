"""httpbench: hyperfine for network services."""

__version__ = "0.1.0"
