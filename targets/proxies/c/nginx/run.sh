#!/bin/sh
# Writes nginx.conf into SCRATCH and replaces itself with nginx, which writes its files there, too. nginx doesn't need root, stays in the
# foreground and doesn't log requests. With a certificate and its key, it serves HTTPS and HTTP/2. With a second backend, it avoids a backend
# that fails.
# Usage: run.sh HOST:PORT BACKEND_HOST:BACKEND_PORT WORKERS SCRATCH [CERT KEY | SECOND_HOST:SECOND_PORT]
set -eu
address=$1 backend=$2 workers=$3 scratch=$4
[ $# -lt 6 ] || tls="ssl http2" files="ssl_certificate $5; ssl_certificate_key $6; ssl_protocols TLSv1.2 TLSv1.3;"
[ $# -ne 5 ] || second="server $5; zone backend 64k;" limits="proxy_connect_timeout 1s; proxy_read_timeout 1s;"

# Only the current user can read the scratch folder. When root starts nginx, its workers run as another user by default.
[ "$(id -u)" = 0 ] && user="user root;" || user=

cat > "$scratch/nginx.conf" <<CONF
$user
daemon off;
pid nginx.pid;
error_log stderr crit;
worker_processes $workers;
worker_rlimit_nofile $(ulimit -Hn);
events {
    worker_connections 16384;
    multi_accept on;
}
http {
    access_log off;
    server_tokens off;
    tcp_nopush on;
    keepalive_requests 1000000000;
    keepalive_timeout 1h;
    client_max_body_size 0;
    client_body_temp_path body;
    proxy_temp_path proxy;
    fastcgi_temp_path fastcgi;
    uwsgi_temp_path uwsgi;
    scgi_temp_path scgi;
    upstream backend {
        server $backend;
        ${second:-}
        keepalive 1024;
        keepalive_requests 1000000000;
        keepalive_timeout 1h;
    }
    server {
        listen $address ${tls:-} reuseport backlog=4096;
        ${files:-}
        location / {
            proxy_pass http://backend;
            proxy_http_version 1.1;
            proxy_set_header Host \$http_host;
            proxy_set_header Connection "";
            proxy_set_header Proxy-Connection "";
            proxy_request_buffering off;
            proxy_max_temp_file_size 0;
            ${limits:-}
        }
    }
}
CONF
exec nginx -e stderr -p "$scratch/" -c nginx.conf
