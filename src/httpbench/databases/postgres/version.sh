#!/bin/sh
# Print the version of the programs.
set -eu
. "$(dirname "$0")/programs.sh"
exec "$programs/postgres" --version
