#!/bin/sh
# Writes nginx.conf into SCRATCH, where all that nginx writes goes too, and becomes nginx: no root, no daemon, no log of requests.
# Usage: run.sh HOST PORT WORKERS SCRATCH
set -eu
host=$1 port=$2 workers=$3 scratch=$4

# Exactly 10,000 bytes, no ten of them like the others: what a proxy loses, repeats or swaps shows.
seq -f %09.0f 0 999 > "$scratch/10kb"

# The file is in a folder that is this user's alone; started by root, nginx would read it as another.
[ "$(id -u)" = 0 ] && user="user root;" || user=

cat > "$scratch/nginx.conf" <<CONF
$user
daemon off;
pid nginx.pid;
error_log stderr error;
worker_processes $workers;
worker_rlimit_nofile $(ulimit -Hn);
events {
    worker_connections 16384;
    multi_accept on;
}
http {
    access_log off;
    server_tokens off;
    default_type text/plain;
    sendfile on;
    tcp_nopush on;
    open_file_cache max=8;
    keepalive_requests 1000000000;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {
        listen $host:$port reuseport backlog=4096;
        location = /10kb { root $scratch; }
        location = /stub_status { stub_status; }
        location = / { return 200 "Hello, World!"; }
        location / { return 404; }
    }
}
CONF
exec nginx -e stderr -p "$scratch/" -c nginx.conf
