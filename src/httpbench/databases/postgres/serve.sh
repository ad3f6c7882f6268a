#!/bin/sh
# Serve a data folder until SIGTERM. The socket is in that folder, which only its owner can enter. The data is thrown
# away afterwards, so the server ends immediately, even if clients are connected.
# Usage: serve.sh DATA ADDRESS PORT
set -eu
. "$(dirname "$0")/programs.sh"
"$programs/postgres" -D "$1" -c listen_addresses="$2" -c port="$3" -c unix_socket_directories="$1" &
server=$!
trap 'kill -QUIT $server' TERM INT
wait $server || wait $server
