#!/bin/sh
# Writes nginx.conf into SCRATCH and replaces itself with nginx, which writes its files there, too. nginx doesn't need root, stays in the
# foreground and doesn't log requests. With a certificate and its key, it serves HTTPS and HTTP/2.
# Usage: run.sh HOST PORT WORKERS SCRATCH [CERT KEY]
set -eu
host=$1 port=$2 workers=$3 scratch=$4
[ $# -lt 6 ] || tls="ssl http2" files="ssl_certificate $5; ssl_certificate_key $6; ssl_protocols TLSv1.2 TLSv1.3;"

# Distinct lines of 10 bytes, so that a test detects bytes that a proxy loses, repeats or swaps.
seq -f %09.0f 0 9 > "$scratch/100b"
seq -f %09.0f 0 999 > "$scratch/10kb"
seq -f %09.0f 0 99999 > "$scratch/1mb"
# Several copies of the server behind one proxy send the same Last-Modified.
touch -d 2000-01-01T00:00:00Z "$scratch/100b" "$scratch/10kb" "$scratch/1mb"

# Only the current user can read the scratch folder. When root starts nginx, its workers run as another user by default.
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
    keepalive_timeout 1h;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    server {
        listen $host:$port ${tls:-} reuseport backlog=4096;
        ${files:-}
        # A proxy can't ask whether its own copy of a file is still current.
        etag off;
        if_modified_since off;
        root $scratch;
        location = /100b { }
        location = /10kb { }
        location = /1mb { }
        location = /stub_status { stub_status; }
        location = / { return 200 "Hello, World!"; }
        location / { return 404; }
    }
}
CONF
exec nginx -e stderr -p "$scratch/" -c nginx.conf
