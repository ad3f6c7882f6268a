# make bench      everything from a fresh clone, then a short benchmark of built-in servers
# make test-unit  the unit tests, in less than a minute
# make test       installs what it requires, then runs all checks but those of test-all
# make test-all   everything that test leaves out: the other targets, the installed package, tests that judge measurements
# make faults     causes each fault of docs/reliability.md and prints the table as measured
# make results    measures each suite that runs here and writes results/MACHINE/SUITE; SUITES="quick http-clients": only these
# make install    the set-up alone
# make image      a container image of httpbench and of the toolchains that Debian and the official images have
# make shell      a shell in a container of this image; results and builds are kept in the volume httpbench
# make single     the suite http-servers on one core; here, or in the shell of the image
# make multi      the same on all cores
# make all        both

.DELETE_ON_ERROR:
.PHONY: bench results test test-all test-unit faults install portable toolchains check static clean help image shell single multi all

VENV := .venv
BIN := $(VENV)/bin
GENERATORS := $(addprefix --load-generator ,wrk hey autocannon hyperfine)
# Targets in other languages require registries or toolchains that a machine for tests may lack.
TESTED := c client:cpp crystal dlang/epoll dlang/std-net-curl golang java node python ruby rust zig
FIRST = $(shell cat tests/contract/first.txt)
PYTHON ?= $(shell scripts/find-python)
PROGRAMS := httpbench-loadgen httpbench-reference httpbench-timer
BUILT := $(PROGRAMS:%=target/release/%)
ENGINE ?= docker
IMAGE ?= httpbench
# Set in the image, which has nothing to install or to compile.
HTTPBENCH ?=

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

bench: install
	-$(BIN)/httpbench setup --yes --suite quick
	$(BIN)/httpbench bench --suite quick --skip-missing

# RESULTS_OPTIONS: options of bench, such as "--rounds 5 -d 3s". RESULTS_FLAGS: --dry-run, --even-if-busy.
results: install
	$(BIN)/python -m tools.results.measure $(RESULTS_FLAGS) --options "$(RESULTS_OPTIONS)" $(SUITES)

test: install toolchains check

# The builds take most of the time; one that fails is named, and the tests say which of them must not. What judges a measurement may meet
# a bad moment of a shared machine: it is tried three times, and each failure is shown. Wrong results stay wrong.
test-all: install portable
	$(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $(TESTED)
	-$(BIN)/httpbench build --skip-missing --jobs 2 $(TESTED)
	cargo test --locked --quiet -- --ignored
	scripts/install-databases
	scripts/install-namespaces
	$(BIN)/python -m pytest --numprocesses 2 --durations=20 -m "slow and not alone and not container" tests/contract tests/integration tests/e2e
	scripts/install-browser
	$(BIN)/python -m pytest --numprocesses 2 --durations=10 -m "browser and slow" tests/browser
	scripts/install-containers
	$(BIN)/python -m pytest --durations=20 -m "container and not alone" tests/integration
	$(BIN)/python -m pytest --durations=20 --reruns 2 --reruns-delay 2 -m alone tests/integration

test-unit: install
	$(BIN)/python -m pytest --numprocesses auto tests/unit

faults: install portable
	$(BIN)/python -m pytest --quiet --no-header --numprocesses 2 tests/integration/faults

# Packages come from the network while the compiler works.
install:
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/installed $(BUILT)

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(BUILT) &: $(if $(HTTPBENCH),,$(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock)
	cargo build --release --locked $(PROGRAMS:%=--package %)
	touch $(BUILT)

# What --install copies to load hosts, built before tests that have a time limit. Some systems cannot build it, and do without.
portable:
	-cargo static --quiet --target $(shell uname -m)-unknown-linux-gnu

toolchains:
	$(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $(FIRST)

# The first targets are built beside the checks that need no quiet machine; the tests that send load come after both, three at a time,
# as they wait a lot and none of them depends on how fast a response comes. A target that cannot be built is named; the tests say which of them must.
check:
	{ $(BIN)/httpbench build --skip-missing --jobs 2 $(FIRST); scripts/install-browser; } >$(VENV)/builds.log 2>&1 & builds=$$!; \
	$(MAKE) --no-print-directory static || { kill $$builds; exit 1; }; \
	wait $$builds; cat $(VENV)/builds.log
	cargo test --locked --quiet
	$(BIN)/python -m pytest --numprocesses 3 --durations=10 -m "not slow and not alone and not container" tests/contract tests/integration tests/browser
	@echo; echo "Not run: tests that make test-all runs, by file:"
	@$(BIN)/python -m pytest --collect-only -qq -m "slow or alone or container" tests/contract tests/integration tests/e2e tests/browser

static:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	cargo fmt --check
	cargo clippy --locked --all-targets -- -D warnings
	cargo test --locked --quiet --no-run
	$(MAKE) --no-print-directory test-unit

image:
	$(ENGINE) build --network host --tag $(IMAGE) .

shell: image
	$(ENGINE) run --rm --interactive --tty --init --privileged --volume httpbench:/root --entrypoint bash $(IMAGE)

all: SCALING :=
single: SCALING := --scaling single
multi: SCALING := --scaling multi
all single multi: $(if $(HTTPBENCH),,install)
	$(or $(HTTPBENCH),$(BIN)/httpbench) bench --suite http-servers --skip-missing $(SCALING)

clean:
	rm -rf $(VENV) target
