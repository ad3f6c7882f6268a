#!/bin/sh
# Writes httpd.conf into SCRATCH and replaces itself with Apache, which writes its files there, too. Apache stays in the foreground and
# doesn't log requests. With a certificate and its key, it serves HTTPS and HTTP/2. With a second backend, it checks both.
# Usage: run.sh HOST:PORT BACKEND_HOST:BACKEND_PORT WORKERS SCRATCH [CERT KEY | SECOND_HOST:SECOND_PORT]
set -eu
address=$1 backend=$2 workers=$3 scratch=$4
modules=/usr/lib/apache2/modules
if [ $# -ge 6 ]; then
    tls="LoadModule ssl_module $modules/mod_ssl.so
LoadModule http2_module $modules/mod_http2.so
Protocols h2 http/1.1
SSLEngine on
SSLCertificateFile $5
SSLCertificateKeyFile $6"
fi
target=http://$backend
if [ $# -eq 5 ]; then
    target=balancer://backends
    member="timeout=1 connectiontimeout=1 hcmethod=GET hcuri=/ hcinterval=1"
    balancer="LoadModule slotmem_shm_module $modules/mod_slotmem_shm.so
LoadModule lbmethod_byrequests_module $modules/mod_lbmethod_byrequests.so
LoadModule proxy_balancer_module $modules/mod_proxy_balancer.so
LoadModule proxy_hcheck_module $modules/mod_proxy_hcheck.so
<Proxy $target>
    BalancerMember http://$backend $member
    BalancerMember http://$5 $member
    ProxySet failontimeout=On
</Proxy>"
fi
# Apache refuses to serve requests as root.
[ "$(id -u)" = 0 ] && user="User nobody
Group nogroup" || user=

cat > "$scratch/httpd.conf" <<CONF
ServerName localhost
ServerRoot $scratch
DefaultRuntimeDir $scratch
PidFile httpd.pid
ErrorLog /dev/stderr
LogLevel crit
LoadModule mpm_event_module $modules/mod_mpm_event.so
LoadModule authz_core_module $modules/mod_authz_core.so
LoadModule proxy_module $modules/mod_proxy.so
LoadModule proxy_http_module $modules/mod_proxy_http.so
Listen $address
ListenBacklog 4096
$user
${tls:-}

# When all threads of a process are busy, it closes connections that are kept alive. Therefore, it has many threads.
StartServers $workers
ServerLimit $workers
ThreadLimit 1024
ThreadsPerChild 1024
MaxRequestWorkers $((workers * 1024))
MaxSpareThreads $((workers * 1024))
KeepAlive On
MaxKeepAliveRequests 0
KeepAliveTimeout 3600
Timeout 3600

AllowEncodedSlashes NoDecode
ProxyPreserveHost On
${balancer:-}
ProxyPass / $target/ nocanon
CONF
exec apache2 -f "$scratch/httpd.conf" -D FOREGROUND
