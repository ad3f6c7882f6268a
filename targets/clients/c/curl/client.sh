#!/bin/sh
# Sequential GETs on one connection by one curl process. The address is given once, with a numbered fragment: curl counts through
# [1-N], and a fragment is never sent, so that each request is the same. Each transfer leaves a line with its status and its size;
# their number is checked, because curl takes an address for many only as long as it holds such a range.
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
