# httpbench with the toolchains of its targets. See "httpbench in a container" in docs/containers.md.
# Digests make every build use the same images. Dependabot doesn't update ARG lines: `docker buildx imagetools inspect IMAGE` prints the newest
# digest of a tag.
ARG REGISTRY=docker.io
ARG RUST=${REGISTRY}/library/rust:1.95-bookworm@sha256:6258907abe69656e41cd992e0b705cdcfabcbbe3db374f92ed2d47121282d4a1
ARG GO=${REGISTRY}/library/golang:1.26-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
ARG NODE=${REGISTRY}/library/node:24-bookworm-slim@sha256:6f7b03f7c2c8e2e784dcf9295400527b9b1270fd37b7e9a7285cf83b6951452d
ARG BASE=${REGISTRY}/library/debian:bookworm-slim@sha256:3783cc01769c7b2b1b83a5c5ad96c815348e28ed7da68e2e3687004faa906251

FROM ${GO} AS go

FROM ${NODE} AS node

# Building the wheel compiles the load generator, the reference server and the timer, which it contains.
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
# Install the toolchains from Debian, which lacks .NET and Dart. Slim images lack a folder that Java's package needs for its manual pages.
RUN mkdir -p /usr/share/man/man1 \
 && apt-get update \
 && httpbench setup --print > /tmp/setup \
 && sh /tmp/setup \
 && rm -rf /tmp/setup /var/lib/apt/lists/*
WORKDIR /httpbench
COPY Makefile ./
# make all, single and multi use this program and install nothing.
ENV HTTPBENCH=httpbench
# Runs as root, because `tune` sets the kernel's knobs and targets get their own control groups.
ENTRYPOINT ["httpbench"]
CMD ["--help"]
