#!/bin/sh
# Compares autocannon with our load generator on the same server, in five interleaved pairs of rounds.
#
#     benchmarks/autocannon.sh [TARGET] [more options of `httpbench bench`]
#
# One core for the server, the others for the load generator. The verdict of each table says which of the two was the limit.
set -eu
cd "$(dirname "$0")/.."

target=${1:-golang/gin}
[ $# -eq 0 ] || shift
httpbench setup --yes --load-generator autocannon
httpbench bench "$target" --load-generator autocannon --load-generator native --rounds 5 -c 100 --pipeline 10 -d 10s "$@"
httpbench report latest --format autocannon
