#!/bin/sh
# Query a server through its socket, as its administrator, and print one row per line, with fields separated by tabs.
# Usage: ask.sh DATA PORT SQL
set -eu
. "$(dirname "$0")/programs.sh"
PGCONNECT_TIMEOUT=5 exec "$programs/psql" --no-psqlrc --quiet --no-align --tuples-only --field-separator="$(printf '\t')" \
    --host="$1" --port="$2" --username=postgres --dbname=hello_world --command="$3"
