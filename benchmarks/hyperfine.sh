#!/bin/sh
# Time the same client with httpbench-timer and with hyperfine. The means should agree within their spread. This takes a few minutes.
# Usage: benchmarks/hyperfine.sh [ROW] [ROUNDS]
set -eu
row=${1:-client:c/curl} rounds=${2:-10}
for timer in native hyperfine native hyperfine; do
    httpbench bench "$row" --load-generator "$timer" --rounds "$rounds" --quiet
done
