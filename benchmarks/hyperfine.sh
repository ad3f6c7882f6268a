#!/bin/sh
# The same client timed by our own timer and by hyperfine, in turn: their means should agree within their spread. Takes some minutes.
# Usage: benchmarks/hyperfine.sh [ROW] [ROUNDS]
set -eu
row=${1:-client:c/curl} rounds=${2:-10}
for timer in native hyperfine native hyperfine; do
    httpbench bench "$row" --load-generator "$timer" --rounds "$rounds" --quiet
done
