#!/bin/sh
# Starts Traefik with the router and backend in dynamic.yml. By default, it rejects encoded slashes, and when it ends, it waits for
# connections.
# Usage: run.sh HOST:PORT
exec venv/bin/traefik \
    --entrypoints.relay.address="$1" \
    --entrypoints.relay.http.sanitizepath=false \
    --entrypoints.relay.http.encodedcharacters.allowencodedslash=true \
    --entrypoints.relay.transport.lifecycle.gracetimeout=0 \
    --entrypoints.relay.transport.respondingtimeouts.readtimeout=0 \
    --entrypoints.relay.transport.respondingtimeouts.idletimeout=0 \
    --providers.file.filename=dynamic.yml \
    --providers.file.watch=false \
    --global.checknewversion=false \
    --global.sendanonymoususage=false \
    --log.level=ERROR
