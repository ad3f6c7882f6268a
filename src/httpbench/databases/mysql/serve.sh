#!/bin/sh
# Serve a data folder until SIGTERM. The socket is in that folder, which only its owner can enter. Queries can read and write files only in
# an empty folder.
# Usage: serve.sh DATA ADDRESS PORT
set -eu
. "$(dirname "$0")/settings.sh"
exec /usr/sbin/mariadbd $settings --datadir="$1" --bind-address="$2" --port="$3" --socket="$1/socket" --pid-file="$1/pid" \
    --secure-file-priv="$1/files" --ignore-db-dirs=files
