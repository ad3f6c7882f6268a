#!/bin/sh
# Query a server through its socket, as its administrator, and print one row per line, with fields separated by tabs.
# Usage: ask.sh DATA PORT SQL
set -eu
exec mariadb --no-defaults --socket="$1/socket" --user=root --connect-timeout=5 --batch --skip-column-names --execute="$3" hello_world
