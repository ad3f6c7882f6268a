#!/bin/sh
# Print the version of the programs.
exec /usr/sbin/mariadbd --no-defaults --version
