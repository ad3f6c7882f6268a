# make bench      install everything, then run a short benchmark of built-in servers
# make test-unit  run the unit tests, in less than a minute
# make test       install the requirements, then run all checks except those of test-all
# make test-all   run the remaining checks: other targets, the installed package, and tests that judge measurements
# make faults     cause each fault and attack in docs/reliability.md and print the measured tables
# make results    measure each suite that this machine can run, and write results/MACHINE/SUITE; select suites with SUITES="quick http-clients"
# make install    install httpbench and its development tools
# make image      build a container image of httpbench with the toolchains from Debian and the official images
# make shell      open a shell in this image; the volume httpbench stores results and builds
# make single     run the suite http-servers on one core, on this machine or in the image's shell
# make multi      run the same suite on all cores
# make all        run single and multi

# Tests start httpbench hundreds of times, and without bytecode, each start compiles it again.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: bench results test test-all test-unit faults install link portable check vale prose static clean help image shell single multi all

VENV := .venv
BIN := $(VENV)/bin
VALE := target/tools/vale
GENERATORS := $(addprefix --load-generator ,wrk hey autocannon hyperfine)
# Targets in other languages need registries or toolchains that a test machine may lack.
TESTED := c client:cpp crystal dlang/epoll dlang/std-net-curl golang java node python ruby rust zig
FIRST = $(shell cat tests/contract/first.txt)
SETUP = $(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $(FIRST) c/io_uring
# The integration tests in Rust, except those of timing.
RUST_TESTS := $(filter-out timing,$(notdir $(basename $(wildcard crates/*/tests/*.rs)) $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs))))
PROSE := README.md CHANGELOG.md CONTRIBUTING.md SECURITY.md docs crates/loadgen/README.md targets/README.md
PYTHON ?= $(shell scripts/find-python)
PROGRAMS := httpbench-loadgen httpbench-reference httpbench-timer
BUILT := $(PROGRAMS:%=target/release/%)
ENGINE ?= docker
IMAGE ?= httpbench
# The image sets this variable to its installed httpbench, so nothing is installed or compiled there.
HTTPBENCH ?=

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

bench: install
	-$(BIN)/httpbench setup --yes --suite quick
	$(BIN)/httpbench bench --suite quick --skip-missing

# RESULTS_OPTIONS: options for bench, such as "--rounds 5 -d 3s". RESULTS_FLAGS: --dry-run, --even-if-busy, --pages-only.
results: install
	$(BIN)/python -m tools.results.measure $(RESULTS_FLAGS) --options "$(RESULTS_OPTIONS)" $(SUITES)

# The compilers leave a core idle while they link. Vale is compiled then.
test:
	@$(MAKE) --no-print-directory --jobs 3 $(VENV)/installed $(BUILT) vale
	@$(MAKE) --no-print-directory check

# Builds take most of the time. Failed builds are listed, and tests decide which targets must build. Tests marked "alone" judge
# measurements, which a busy machine can disturb, so they get up to three attempts. Every failed attempt is shown.
test-all: install portable
	$(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $(TESTED)
	-$(BIN)/httpbench build --skip-missing --jobs 2 $(TESTED)
	cargo test --locked --quiet -- --ignored
	scripts/install-databases
	scripts/install-namespaces
	scripts/install-h2spec
	$(BIN)/python -m pytest --numprocesses 2 --durations=20 -m "slow and not alone and not container" tests/contract tests/integration tests/e2e
	scripts/install-browser
	$(BIN)/python -m pytest --numprocesses 2 --durations=10 tests/browser
	scripts/install-containers
	$(BIN)/python -m pytest --durations=20 -m "container and not alone" tests/integration
	$(BIN)/python -m pytest --durations=20 --reruns 2 --reruns-delay 2 -m alone tests/integration

test-unit: install
	$(BIN)/python -m pytest --numprocesses auto tests/unit

faults: install portable
	$(BIN)/python -m pytest --quiet --no-header --numprocesses 2 --dist loadgroup tests/integration/faults $$($(BIN)/python -m tests.reliability)

# The packages download while the compiler runs.
install:
	@$(MAKE) --no-print-directory --jobs 2 $(VENV)/installed $(BUILT)
	@$(MAKE) --no-print-directory link

# Links can't become outdated, unlike copies.
link:
	@ln -sf $(BUILT:%="$(CURDIR)/%") "$(BIN)"

$(VENV)/installed: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --disable-pip-version-check --editable . --group dev
	touch $@

$(BUILT) &: $(if $(HTTPBENCH),,$(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock)
	cargo build --release --locked $(PROGRAMS:%=--package %)
	touch $(BUILT)

# Build the program that --install copies to load hosts. It is built before the tests, because they have time limits. If the build
# fails, the tests run without the program.
portable:
	-cargo static --quiet --target $(shell uname -m)-unknown-linux-gnu

# The first targets build while the static checks run, because these checks don't need a quiet machine. Tests that send load come after
# both. The load generator's timing tests run first and alone. All other tests mostly wait, and none depends on response times, so several
# run at once. Failed builds are listed, and tests decide which targets must build.
check:
	{ $(SETUP); $(BIN)/httpbench build --skip-missing --jobs 2 $(FIRST); } >$(VENV)/builds.log 2>&1 & builds=$$!; \
	$(MAKE) --no-print-directory static || { kill $$builds; exit 1; }; \
	wait $$builds; cat $(VENV)/builds.log
	$(MAKE) --no-print-directory prose
	cargo test --locked --quiet --test timing -- --test-threads 4
	cargo test --locked --quiet --lib --bins $(RUST_TESTS:%=--test %) >$(VENV)/cargo.log 2>&1 & rust=$$!; \
	$(BIN)/python -m pytest --numprocesses 4 --durations=10 -m "not slow and not alone and not container" tests/contract tests/integration; \
	python=$$?; wait $$rust; rust=$$?; cat $(VENV)/cargo.log; exit $$((python + rust))
	@echo; echo "Not run: tests that make test-all runs, by file:"
	@$(BIN)/python -m pytest --collect-only -qq -m "slow or alone or container or browser" tests/contract tests/integration tests/e2e tests/browser

vale:
	@scripts/install-vale $(VALE)

# The style is in tools/vale. If vale is missing, scripts/install-vale has printed why.
prose: vale
	git ls-files -z | xargs -0 $(BIN)/codespell
	[ ! -x $(VALE) ] || $(VALE) --output line $(PROSE)

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
