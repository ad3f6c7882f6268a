#!/bin/sh
# Sends sequential GETs on one connection, with one curl process. The URL ends in the fragment #[1-N], which curl expands to N URLs.
# All requests are the same, because curl never sends a fragment. For each transfer, curl writes a line with the status and the size.
# The script checks the number of lines, because curl would send a single request if it didn't expand the range.
set -eu
LC_ALL=C

case $# in 3) ;; *) echo "usage: client.sh URL REQUESTS SCRATCH_FOLDER" >&2; exit 2 ;; esac
url=$1 requests=$2 transfers=$3/transfers
case $requests in '' | *[!0-9]*) echo "usage: client.sh URL REQUESTS SCRATCH_FOLDER" >&2; exit 2 ;; esac

if [ "$requests" -eq 0 ]; then
    curl --version > "$transfers"
    echo "0 0"
    exit
fi

curl --disable --silent --show-error --fail-early --output /dev/null --write-out '%{http_code} %{size_download}\n' \
    "$url#[1-$requests]" > "$transfers" || exit 1

awk -v url="$url" -v requests="$requests" '
    $1 != 200 { wrong = $1 }
    { body_bytes += $2 }
    END {
        problem = wrong ? "status " wrong ", expected 200" : NR != requests ? NR " transfers instead of " requests : ""
        if (problem) { print url ": " problem > "/dev/stderr"; exit 1 }
        printf "%d %d\n", NR, body_bytes
    }' "$transfers"
