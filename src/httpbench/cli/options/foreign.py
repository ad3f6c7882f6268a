"""Options of other load generators and benchmark runners, with httpbench's equivalent options.

An entry applies only to verbs that lack the foreign option. For example, ``runs`` has its own ``-n``, so no entry applies to ``runs -n 5``.
"""

from __future__ import annotations

from click.exceptions import NoSuchOption

REMOTE = "this verb sends load from this machine; `bench`, `run` and `saturate` have -r, --load-host"

OURS = {
    "--tool": ("--load-generator", "--load-generator NAME chooses the load generator, such as `--load-generator wrk`"),
    "--type": ("--scaling", "--scaling single gives the target one core (singleCore), --scaling multi its whole share (multiCore)"),
    "--remote": ("--duration", REMOTE),
    "-r": ("--duration", REMOTE),
    "--host": ("--duration", REMOTE),
    "-b": ("--rounds", "--rounds N repeats every trial; tables show the median round, never the best"),
    "-n": ("--duration", "-d DURATION sets how long a trial measures, such as `-d 10s`; there is no fixed number of requests"),
    "-z": ("--duration", "-d DURATION sets how long a trial measures, such as `-d 10s`"),
    "-R": ("--rate", "--rate RATE sends an open loop at this rate, in requests per second"),
    "--unix-socket": ("--url", "--url unix:PATH measures a server on a Unix socket; --path sets the request path"),
    "-p": ("--duration", "this verb keeps one request in flight on each connection; `bench` and `run` have -p, --pipeline"),
}
"""Hint for each foreign option, and the option of httpbench that a verb must have for the hint to apply."""


def explained(error: NoSuchOption) -> tuple[str, str] | None:
    """Return an error message and a hint that names the verb's equivalent option, or ``None`` if there is no such option.

    This replaces Click's own message, which may suggest an unrelated option with a similar name.
    """
    required, hint = OURS.get(error.option_name, ("", ""))
    if error.ctx is None or required not in {name for parameter in error.ctx.command.params for name in parameter.opts}:
        return None
    return f"{error.ctx.info_name} has no option {error.option_name}", hint
