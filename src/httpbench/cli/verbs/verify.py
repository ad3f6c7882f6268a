"""``httpbench verify``: check that targets meet the contract."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.options.fields import Options, command, group, option
from httpbench.cli.options.isolation import IsolationOptions
from httpbench.cli.options.shared import Selection, jobs_option, scaling_option, workload_option
from httpbench.cli.options.transport import TransportOptions
from httpbench.cli.terminal import console
from httpbench.errors import HttpbenchError, UsageError
from httpbench.text import one_line

if TYPE_CHECKING:
    from pathlib import Path

    from httpbench.catalog import Catalog
    from httpbench.model import Conformance, Proof, Scaling, Target, Workload
    from httpbench.run import Built, Verified


class VerifyOptions(Options):
    selection: Selection = group(Selection)
    scaling: tuple[str, ...] = scaling_option(multiple=True, default_text="all that the target has", help="Scaling to verify.")
    isolation: IsolationOptions = group(IsolationOptions)
    transport: TransportOptions = group(TransportOptions)
    workload: str | None = workload_option()
    jobs: int = jobs_option()
    record: bool = option(
        "--record",
        is_flag=True,
        help="Record targets that pass in targets/verified.toml of this checkout, with date, system and toolchain.",
    )


@command(VerifyOptions)
def verify(options: VerifyOptions) -> ExitCode:
    """Check that targets meet the contract.

    Builds and starts each target, checks each clause, and stops the target. Default: all servers. Exit code 1 if a check fails.

    \b
    httpbench verify c/epoll/level           a server, in each scaling
    httpbench verify proxy:c/haproxy         a proxy, observed at both ends
    httpbench verify c/nginx --isolate docker
    httpbench verify c/nginx --tls --http2   over TLS, with h2spec
    httpbench verify --targets ~/mine mine   a target of your own
    httpbench verify golang --record         for `list` on other machines
    """
    from httpbench import host
    from httpbench.cli.targets import prepare_engines, surroundings, with_backends, workloads_of
    from httpbench.model import Feature, Kind, Scaling
    from httpbench.report.words.checks import conformance_text
    from httpbench.report.words.numbers import plural
    from httpbench.run import (
        CHECKS,
        H2SPEC_INSTALL,
        databases_of,
        h2spec,
        prepare,
        scaling_of,
    )

    selection, known = options.selection, options.selection.catalog()
    targets = options.isolation.applied(selection.of(known, kind=None if selection.words else Kind.SERVER))
    targets = options.transport.serving(targets, named=bool(selection.words))
    if options.record:
        _require_recordable(targets, None if options.transport.http2 else options.workload)
    prepare_engines(targets)
    workloads = workloads_of(known, targets, options.workload)
    with console.observer() as observer:
        served_by = {target.id: _served(known, target, workloads[target.kind], options) for target in targets}
        databases = databases_of((target, each) for target in targets for each in served_by[target.id])
        builds = [options.transport.built(target, each) for target in targets for each in served_by[target.id]]
        needed = {each.build_name: each for each in (*with_backends(known, builds, workloads), *databases)}
        built = prepare(list(needed.values()), observer, options.jobs)
    topology, transport = host.read_topology(), options.transport.transport()
    if transport.http2 and h2spec() is None:
        console.echo(f"h2spec is not installed, so it will not run; to install it: {H2SPEC_INSTALL}", err=True)
    passed = not built.errors
    recorded: list[Path] = []
    for target in targets:
        checks, workload = CHECKS[target.kind], workloads[target.kind]
        served = served_by[target.id]
        own_builds = [options.transport.built(target, each).build_name for each in served]
        behind = [database.id for database in databases_of((target, each) for each in served)]
        if missing := [name for name in (*own_builds, workload.backend, *behind) if name in built.errors]:
            error = built.errors[missing[0]]
            console.echo(f"{target.id}: not verified: {error.message}")
            _details(error)
            continue
        if not served:
            problem = (
                f"over HTTP/2, responses of {workload.name} cannot be checked"
                if transport.http2
                else f"it declares no path for {workload.name}"
            )
            console.echo(f"{target.id}: not verified: {problem}")
            passed = False
        results = []
        for word, each in product(options.scaling or ("single", "multi"), served):
            own = scaling_of(target, Scaling(word))
            if own is not None:
                build = options.transport.built(target, each)
                cores, backend = surroundings(build, each, own, known, built, topology)
                result = checks.verify(build, own, each, built.folders[build.build_name], cores, backend, transport)
                passed = passed and result.passed
                results.append(result)
                _show(result)
        _advise(target, results)
        is_plain = not options.transport.tls or Feature.TLS in target.build.features  # otherwise, TLS has no build of its own to record
        if results and options.workload is None and is_plain and not transport.http2:
            recorded += _keep(target, results, built, options)
        if results and transport.http2:
            build, scaling = results[0].target, results[0].scaling
            cores, backend = surroundings(build, served[0], scaling, known, built, topology)
            if found := checks.conformance(build, scaling, served[0], built.folders[build.build_name], cores, backend, transport):
                console.echo(f"{target.id} h2spec: {conformance_text(found)}")
                recorded += [_add_conformance(target, found)] if options.record else []
    if recorded:
        console.echo(f"recorded {plural(len(recorded), 'target')} in {recorded[0]}")
    return ExitCode.OK if passed else ExitCode.FAILED


def _served(known: Catalog, target: Target, usual: Workload, options: VerifyOptions) -> list[Workload]:
    """Return the workloads to verify.

    If the target declares paths and the user named no workload, verify every workload that the target serves. Otherwise, verify only
    ``usual``, or each of its parts if it is a mix. The list is empty if the target doesn't serve ``usual``.
    """
    if options.workload is not None or not target.paths:
        return list(usual.each) if usual.is_served_by(target) else []
    return [each for each in known.workloads.values() if each.kind is target.kind and each.is_served_by(target)]


def _require_recordable(targets: Sequence[Target], workload: str | None) -> None:
    from httpbench.paths import is_built_in

    if workload is not None:
        raise UsageError("--record accepts only the usual workload", hint="remove --workload")
    if contained := [target.id for target in targets if target.isolation is not None]:
        raise UsageError(f"--record accepts only processes, and {', '.join(contained)} runs in a container", hint="remove --isolate")
    if foreign := [target.id for target in targets if not is_built_in(target.folder)]:
        raise UsageError(f"--record keeps built-in targets only, and {', '.join(foreign)} comes from a folder of --targets")


def _keep(target: Target, results: Sequence[Verified], built: Built, options: VerifyOptions) -> list[Path]:
    """Record which scalings of the target's builds passed, and return the files that changed in the project.

    Results are recorded on this machine and, with ``--record``, in the project too. Results from containers are not recorded, because
    containers have a different toolchain. Call this function after each target, so that an interruption loses no results.
    """
    from httpbench import catalog
    from httpbench.run import mark_verified, proof_of, with_builds

    if target.isolation is not None:
        return []
    builds = {result.target.build_name: result.target for result in results}
    passed: dict[str, tuple[Scaling, ...]] = {}
    for name, build in builds.items():
        own = [result for result in results if result.target.build_name == name]
        failed = [result.scaling for result in own if not result.passed]
        passed[name] = mark_verified(build, [result.scaling for result in own if result.scaling not in failed], failed)
    if not options.record:
        return []
    verified = [(build, passed[name] == target.scaling) for name, build in builds.items()]
    if options.transport.tls:
        return [catalog.record_proofs([with_builds(_current_record(target), verified)])]
    scaling = tuple(own for own in target.scaling if all(own in each for each in passed.values()))
    ambiguous = next((dict(result.ambiguous) for result in results if result.ambiguous), {})
    proof, before = proof_of(target, scaling, built, ambiguous), catalog.read_proofs().get(target.id)
    if before is not None:
        proof = proof.model_copy(update={"build_s": proof.build_s or before.build_s})
    if before is not None and before.sources == proof.sources:
        proof = proof.model_copy(update={"h2spec": before.h2spec, "builds": before.builds})
    return [catalog.record_proofs([with_builds(proof, verified)])]


def _add_conformance(target: Target, found: Conformance) -> Path:
    """Add the result of h2spec to the target's record, and return its file. Raise :class:`UsageError` if the record isn't current."""
    from httpbench import catalog

    return catalog.record_proofs([_current_record(target).model_copy(update={"h2spec": found})])


def _current_record(target: Target) -> Proof:
    """Return the target's record. Raise :class:`UsageError` if there is none, or its sources have changed since then."""
    from httpbench import catalog
    from httpbench.run import sources_of

    known = catalog.read_proofs().get(target.id)
    if known is None or known.sources != sources_of(target):
        raise UsageError(f"{target.id} has no current record", hint=f"first run `httpbench verify {target.id} --record`")
    return known


def _show(result: Verified) -> None:
    from httpbench.report.words.checks import ambiguous_text, check_text
    from httpbench.report.words.targets import probe_warning

    asked = f" {result.workload}" if result.target.paths else ""
    console.echo(f"{result.target.build_name} {result.scaling}{asked}: {'passed' if result.passed else 'FAILED'}")
    for check in result.checks:
        text = check_text(check)
        mark, more = "✓" if check.passed else "✗", "" if text == "holds" else f": {one_line(text)}"
        console.echo(f"  {mark} {check.name}{more}")
    if result.ambiguous:
        console.echo(f"  ambiguous requests: {ambiguous_text(result.ambiguous)}")
    if result.probed:
        console.echo(f"  probe: {result.probed.label or 'unknown'}")
        if warning := probe_warning(result.target, result.probed):
            console.echo(f"  warning: {warning}")
            console.echo(f"    hint: `httpbench probe {result.target.id} --details` shows each request and response")
    if result.error:
        console.echo(f"  ✗ {result.error.message}")
        _details(result.error)


def _advise(target: Target, results: Sequence[Verified]) -> None:
    """Print what to change so that the target passes. Targets of other projects declare no limits."""
    from httpbench.report.words.checks import advice

    if target.entry is None and not all(result.passed for result in results):
        for line in advice(target, [check for result in results for check in result.checks]):
            console.echo(f"  hint: {line}")


def _details(error: HttpbenchError) -> None:
    if error.log_tail:
        console.echo("\n".join(f"    | {line}" for line in error.log_tail.splitlines()))
    if error.hint:
        console.echo(f"    hint: {error.hint}")
