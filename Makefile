# make bench    everything from a fresh clone, then a short honest benchmark of the built-in servers
# make test     everything it needs, then all checks
# make install  the set-up alone

.DELETE_ON_ERROR:
.PHONY: bench test install toolchains check static clean help

VENV := .venv
BIN := $(VENV)/bin
TESTED := c client:cpp crystal dlang/epoll dlang/std-net-curl golang java node python ruby rust zig
PYTHON ?= $(shell scripts/find-python)
PROGRAMS := httpbench-loadgen httpbench-reference httpbench-timer
BUILT := $(PROGRAMS:%=target/release/%)

help:
	@sed -n 's/^# //p' Makefile

bench: install
	-$(BIN)/httpbench setup --yes --suite quick
	$(BIN)/httpbench bench --suite quick --skip-missing

test: install toolchains check

install: $(VENV)/installed $(BUILT)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(BUILT) &: $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
	cargo build --release --locked $(PROGRAMS:%=--package %)
	touch $(BUILT)

# What the tests build and verify. Rows of other languages need registries or toolchains that a machine for tests may lack.
toolchains:
	$(BIN)/httpbench setup --yes --load-generator wrk --load-generator hey --load-generator hyperfine $(TESTED)

# Builds of rows, which take most of the time, go on beside the checks that need no quiet machine; the tests that send load come after
# both, two at a time where nothing depends on how fast an answer comes. A row that cannot be built is named; the tests say which of them must.
# What judges a measurement may meet a bad moment of a shared machine: it is tried three times, and each failure is shown. What is wrong stays wrong.
check:
	$(BIN)/httpbench build --skip-missing --jobs 2 $(TESTED) >$(VENV)/rows.log 2>&1 & rows=$$!; \
	$(MAKE) --no-print-directory static || { kill $$rows; exit 1; }; \
	wait $$rows; cat $(VENV)/rows.log
	cargo test --locked --quiet
	$(BIN)/python -m pytest --numprocesses 2 -m "not alone" tests/contract tests/integration tests/e2e
	$(BIN)/python -m pytest --durations=20 --reruns 2 --reruns-delay 2 -m alone tests/integration

static:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo test --locked --quiet --no-run
	$(BIN)/python -m pytest tests/unit

clean:
	rm -rf $(VENV) target
