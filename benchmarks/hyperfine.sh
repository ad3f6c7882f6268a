#!/bin/sh
# Times the same client with httpbench-timer and with hyperfine. Their means should agree within their spread. Takes a few minutes.
# Usage: benchmarks/hyperfine.sh [ROW] [ROUNDS]
set -eu
row=${1:-client:c/curl} rounds=${2:-10}
for timer in native hyperfine native hyperfine; do
    httpbench bench "$row" --load-generator "$timer" --rounds "$rounds" --quiet
done
