# make bench      install everything, then run a short benchmark of built-in servers
# make test-unit  run the unit tests
# make test       install the requirements, then run all checks except those of test-all
# make test-all   run the remaining checks: other targets, the installed package, and tests that judge measurements
# make verify-all build and verify all targets; test-all verifies those that changed and an eighth of the others
# make faults     cause each fault and attack in docs/reliability.md and print the measured tables
# make audit      check dependencies for known vulnerabilities, and the licenses of crates
# make results    measure each suite that this machine can run, and write results/MACHINE/SUITE; select suites with SUITES="quick http-clients"
# make site       build the site of docs and results, and check its links
# make install    install httpbench and its development tools
# make wheel      build the wheel in dist/
# make dist       build the packages of a release in dist/ and check them
# make sbom       list what the packages of a release contain and require, in dist/
# make image      build a container image of httpbench with the toolchains from Debian and the official images
# make shell      open a shell in this image; the volume httpbench stores results and builds
# make single     run the suite http-servers on one core, on this machine or in the image's shell
# make multi      run the same suite on all cores
# make all        run single and multi

# Tests start httpbench hundreds of times, and without bytecode, each start compiles it again.
unexport PYTHONDONTWRITEBYTECODE

.DELETE_ON_ERROR:
.PHONY: audit sbom bench results site test test-all verify-all loadgen quick test-programs test-unit faults install installed link packages portable checks \
	first load chosen toolchains targets actionlint python rust clean help wheel dist image shell single multi all

VENV := .venv
BIN := $(VENV)/bin
ACTIONLINT := target/tools/actionlint
GENERATORS := $(addprefix --load-generator ,wrk hey h2load autocannon hyperfine)
FIRST = $(shell cat tests/contract/first.txt)
# The targets that test-all verifies, those of make bench, and those that other tests use.
CHOSEN := target/chosen.txt
QUICK = $(shell sed -n 's/^targets = //p' suites/quick.toml | tr -d '[],"')
USED := golang/net-http node/cluster
# The integration tests in Rust, except those of timing.
RUST_TESTS := $(filter-out timing,$(notdir $(basename $(wildcard crates/*/tests/*.rs)) $(patsubst %/main.rs,%,$(wildcard crates/*/tests/*/main.rs))))
# Clippy checks what it compiles for the tests, so that nothing is compiled twice. It separates its arguments in its own way.
LINTED := RUSTC_WORKSPACE_WRAPPER=clippy-driver CLIPPY_ARGS=-Dwarnings__CLIPPY_HACKERY__
PYTHON ?= $(shell scripts/find-python)
PROGRAMS := httpbench-loadgen httpbench-reference httpbench-timer
BUILT := $(PROGRAMS:%=target/release/%)
CRATES = $(if $(HTTPBENCH),,$(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock)
RELEASE := target/tools/release
MACHINE := $(shell uname -m)
STATIC := $(MACHINE)-unknown-linux-gnu/release
DIST ?= dist
ENGINE ?= docker
IMAGE ?= httpbench
# The image sets this variable to its installed httpbench, so nothing is installed or compiled there.
HTTPBENCH ?=

help:
	@sed -n 's/^# \(make .*\)/\1/p' Makefile

# The targets build while the load generator compiles.
bench:
	@$(MAKE) --no-print-directory --jobs 2 loadgen quick
	@$(MAKE) --no-print-directory link
	$(BIN)/httpbench bench --suite quick --skip-missing

loadgen:
	cargo build --release --locked --package httpbench-loadgen

quick: $(VENV)/runtime
	-$(BIN)/httpbench setup --yes --workload plaintext $(QUICK)
	-$(BIN)/httpbench build --suite quick --skip-missing

# RESULTS_OPTIONS: options for bench, such as "--rounds 5 -d 3s". RESULTS_FLAGS: --dry-run, --even-if-busy, --pages-only.
results: install
	$(BIN)/python -m tools.results.measure $(RESULTS_FLAGS) --options "$(RESULTS_OPTIONS)" $(SUITES)
	$(BIN)/python -m tools.first_screen

# The site is in target/site/html. Any web server can serve it.
site: install
	scripts/install-packages $(VENV) --group site
	$(BIN)/python -m tools.site target/site

# The programs compile while everything runs that needs no quiet machine. Tests that send load come last.
test:
	@$(MAKE) --no-print-directory --jobs 3 --output-sync checks
	@$(MAKE) --no-print-directory load

# Failed builds are listed, and tests decide which targets must build. A busy machine can disturb a test, so a failed test gets another
# attempt. Tests marked "alone" judge measurements, so they run one at a time and get up to three attempts. Every failed attempt is listed.
test-all:
	@$(MAKE) --no-print-directory --jobs 3 --output-sync installed packages targets test-programs
	$(LINTED) cargo test --locked --quiet --test hostile_servers -- --ignored
	HTTPBENCH_LOADGEN=$(CURDIR)/target/release/httpbench-loadgen $(LINTED) cargo test --locked --quiet --test timing -- --ignored
	VERIFY="$$(cat $(CHOSEN))" $(BIN)/python -m pytest --numprocesses 4 --dist loadscope --no-loadscope-reorder --durations=20 --reruns 1 -m "slow and not alone and not container" tests/unit tests/e2e tests/contract tests/integration
	$(BIN)/python -m pytest --numprocesses 2 --durations=10 --reruns 1 tests/browser
	$(MAKE) --no-print-directory site
	$(BIN)/python -m pytest --durations=20 --reruns 1 -m "container and not alone" tests/integration
	$(BIN)/python -m pytest --durations=20 --reruns 2 --reruns-delay 2 -m alone tests/integration

# CI verifies new and changed targets, and an eighth of the others. A release verifies all.
verify-all: CHOICE := --all
verify-all: installed targets
	scripts/install-databases
	$(BIN)/python -m pytest --numprocesses 4 tests/contract

chosen: $(VENV)/installed
	mkdir -p target
	$(BIN)/python -m tests.contract.chosen $(CHOICE) >$(CHOSEN)

toolchains: chosen
	$(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $$(cat $(CHOSEN)) $(USED)

targets: toolchains
	-$(BIN)/httpbench build --skip-missing $$(cat $(CHOSEN)) $(USED)

# Downloads, which need little CPU time while the compilers run. Two programs can't install packages at once.
test-programs: toolchains
	scripts/install-databases
	scripts/install-namespaces
	scripts/install-h2spec
	scripts/install-perf
	scripts/install-browser
	scripts/install-containers

test-unit: installed actionlint
	$(BIN)/python -m pytest --numprocesses auto -m "not slow" tests/unit

faults: install portable
	$(BIN)/python -m pytest --quiet --no-header --numprocesses 2 --dist loadgroup tests/integration/faults $$($(BIN)/python -m tests.reliability)

install:
	@$(MAKE) --no-print-directory --jobs 2 installed

installed: $(VENV)/installed $(BUILT)
	@$(MAKE) --no-print-directory link

# Links can't become outdated, unlike copies.
link:
	@ln -sf $(BUILT:%="$(CURDIR)/%") "$(BIN)"

$(VENV)/runtime: pyproject.toml
	PYTHON=$(PYTHON) scripts/install-packages $(VENV) --editable .
	touch $@

$(VENV)/installed: $(VENV)/runtime
	scripts/install-packages $(VENV) --group dev
	touch $@

$(BUILT) &: $(CRATES)
	cargo build --release --locked $(PROGRAMS:%=--package %)
	touch $(BUILT)

# Build the packages that tests install, and with them the program that --install copies to load hosts. If the build fails, some tests build
# the packages again, and others run without the program.
packages: $(VENV)/installed
	-$(MAKE) --no-print-directory dist DIST=$(CURDIR)/target/dist

audit: install
	scripts/install-packages $(VENV) --group audit
	cargo install --quiet --locked --root target/tools cargo-deny@0.20.2
	$(BIN)/python -m tools.dependencies

# The program that --install copies to load hosts.
portable:
	-cargo static --quiet --target $(MACHINE)-unknown-linux-gnu

checks: first python rust test-unit

# Failed builds are listed, and tests decide which targets must build.
first: $(VENV)/installed
	-$(BIN)/httpbench setup --yes $(GENERATORS) --workload plaintext $(FIRST) c/io_uring
	-$(BIN)/httpbench build --skip-missing $(FIRST)

python: $(VENV)/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	git ls-files -z | xargs -0 $(BIN)/codespell

rust:
	cargo fmt --check
	$(LINTED) cargo test --locked --quiet --no-run

# The load generator's timing tests run first and alone, and get another attempt if a test fails. All other tests mostly wait, and none
# depends on response times, so several run at once. A failed test gets another attempt.
load:
	$(LINTED) cargo test --locked --quiet --test timing -- --test-threads 4 || $(LINTED) cargo test --locked --quiet --test timing -- --test-threads 2
	$(LINTED) cargo test --locked --quiet --lib --bins $(RUST_TESTS:%=--test %) >$(VENV)/cargo.log 2>&1 & rust=$$!; \
	$(BIN)/python -m pytest --numprocesses 4 --durations=10 --reruns 1 -m "not slow and not alone and not container" --dist loadscope tests/contract tests/integration; \
	python=$$?; wait $$rust; rust=$$?; cat $(VENV)/cargo.log; exit $$((python + rust))
	@echo; echo "Not run: tests that make test-all runs, in these files:"
	@grep -rlE --include '*.py' 'mark\.(slow|alone|container|browser)' tests | sort

# A unit test runs it.
actionlint:
	@scripts/install-go-tool $(ACTIONLINT) github.com/rhysd/actionlint/cmd/actionlint 1.7.12

# The packages for PyPI, the crate, and the load generator as a program of its own.
dist: wheel
	$(RELEASE)/bin/twine check --strict $(DIST)/*.whl $(DIST)/*.tar.gz
	$(RELEASE)/bin/auditwheel show $(DIST)/*-manylinux_*.musllinux_*.whl
	$(RELEASE)/bin/cffconvert --validate
	cargo package --locked $(if $(filter-out dist,$(DIST)),--allow-dirty) --package httpbench-loadgen
	cp target/package/httpbench-loadgen-*.crate $(DIST)
	cp LICENSE target/$(STATIC)
	tar -czf $(DIST)/httpbench-loadgen-$(MACHINE)-linux.tar.gz --owner 0 --group 0 -C target/$(STATIC) httpbench-loadgen LICENSE

# Lists of everything that a release contains or requires, as CycloneDX documents in dist/.
sbom: dist
	scripts/install-packages target/tools/sbom --group sbom
	scripts/install-packages target/tools/contents $(DIST)/*.whl
	target/tools/sbom/bin/cyclonedx-py environment target/tools/contents --output-reproducible --output-file $(DIST)/httpbench-$(MACHINE)-python.cdx.json
	cargo install --quiet --locked --root target/tools cargo-cyclonedx@0.5.9
	target/tools/bin/cargo-cyclonedx cyclonedx --format json --override-filename contents.cdx
	for crate in loadgen reference timer; do mv crates/$$crate/contents.cdx.json $(DIST)/httpbench-$(MACHINE)-$$crate.cdx.json; done

# The wheel is built from nothing but the source package. Its files get new times when they are unpacked: cargo would take programs of an
# earlier build as up to date with the times in the package.
wheel: $(RELEASE)/installed
	rm -rf $(DIST)
	$(RELEASE)/bin/python -m build --sdist --outdir $(DIST)
	folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && tar -xzmf $(DIST)/httpbench-*.tar.gz -C "$$folder" --strip-components 1 && \
	CARGO_TARGET_DIR="$(CURDIR)/target" $(RELEASE)/bin/python -m build --wheel --outdir $(DIST) "$$folder"

$(RELEASE)/installed: pyproject.toml
	PYTHON=$(PYTHON) scripts/install-packages $(RELEASE) --group release
	touch $@

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
