#!/bin/sh
# Writes the VCL file into SCRATCH and replaces itself with varnishd, which writes its files there, too. varnishd stays in the foreground,
# has no administration interface, and passes each request on instead of caching responses. With a second backend, it checks both, and sends
# requests that fail to the other one.
# Usage: run.sh HOST:PORT BACKEND_HOST BACKEND_PORT SCRATCH [SECOND_HOST SECOND_PORT]
set -eu
address=$1 host=$2 port=$3 scratch=$4

if [ $# -eq 6 ]; then
    limits=".connect_timeout = 1s; .first_byte_timeout = 1s; .probe = { .url = \"/\"; .interval = 1s; .timeout = 1s; }"
    balancer="import directors;

backend second {
    .host = \"$5\";
    .port = \"$6\";
    $limits
}

sub vcl_init {
    new backends = directors.round_robin();
    backends.add_backend(default);
    backends.add_backend(second);
}

sub vcl_backend_error {
    if (bereq.retries == 0) {
        return (retry);
    }
}"
    choice="set req.backend_hint = backends.backend();"
fi

cat > "$scratch/pass.vcl" <<VCL
vcl 4.1;

backend default {
    .host = "$host";
    .port = "$port";
    ${limits:-}
}

${balancer:-}

sub vcl_recv {
    ${choice:-}
    call vcl_req_host;
    call vcl_req_method;
    return (pass);
}
VCL
exec varnishd -F -a "$address" -f "$scratch/pass.vcl" -n "$scratch/varnish" -j none -T none -s none=default,1m \
    -p backend_idle_timeout=3600 -p listen_depth=4096 -p timeout_idle=3600
