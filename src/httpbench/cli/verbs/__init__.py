"""One file per verb: options in, printing out."""
