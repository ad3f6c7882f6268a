# httpbench, and the toolchains that its targets require: docs/containers.md, «httpbench in a container».
ARG REGISTRY=docker.io
ARG RUST=${REGISTRY}/library/rust:1.95-bookworm
ARG GO=${REGISTRY}/library/golang:1.26-bookworm
ARG NODE=${REGISTRY}/library/node:24-bookworm-slim
ARG BASE=${REGISTRY}/library/debian:bookworm-slim

FROM ${GO} AS go

FROM ${NODE} AS node

# The wheel holds the load generator, the reference server and the timer: its build compiles them.
FROM ${RUST} AS wheel
RUN apt-get update \
 && apt-get install --yes --no-install-recommends python3-venv \
 && rm -rf /var/lib/apt/lists/* \
 && python3 -m venv /opt/httpbench
WORKDIR /httpbench
COPY pyproject.toml hatch_build.py README.md LICENSE Cargo.toml Cargo.lock ./
COPY .cargo ./.cargo
COPY crates ./crates
COPY src ./src
COPY targets ./targets
COPY workloads ./workloads
COPY suites ./suites
RUN /opt/httpbench/bin/pip install --no-cache-dir ".[charts]"

FROM ${BASE}
COPY --from=go /usr/local/go /usr/local/go
COPY --from=node /usr/local/lib/node_modules /usr/local/lib/node_modules
COPY --from=node /usr/local/bin/node /usr/local/bin/node
COPY --from=wheel /usr/local/rustup /usr/local/rustup
COPY --from=wheel /usr/local/cargo /usr/local/cargo
ENV RUSTUP_HOME=/usr/local/rustup CARGO_HOME=/usr/local/cargo
ENV PATH=/opt/httpbench/bin:/usr/local/go/bin:/usr/local/cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
RUN apt-get update \
 && apt-get install --yes --no-install-recommends ca-certificates make python3 \
 && rm -rf /var/lib/apt/lists/* \
 && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
COPY --from=wheel /opt/httpbench /opt/httpbench
# What Debian has; it has no .NET and no Dart. Slim images lack the folder in which Java's package links its manual.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && httpbench setup --print > /tmp/setup \
 && sh /tmp/setup \
 && rm -rf /tmp/setup /var/lib/apt/lists/*
WORKDIR /httpbench
COPY Makefile ./
# The make targets all, single and multi use this one and install nothing.
ENV HTTPBENCH=httpbench
# Root, as in a container that measures: `tune` writes the kernel's knobs, and targets are started with their own control groups.
ENTRYPOINT ["httpbench"]
CMD ["--help"]
