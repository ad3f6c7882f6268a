"""Options for where targets run: as processes, or in containers with limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from httpbench.cli.options.fields import Options, option
from httpbench.cli.options.params import NETWORK_LIST, PLACE_LIST, PLACES, SIZE
from httpbench.errors import UsageError

if TYPE_CHECKING:
    from httpbench.model import Isolation, Suite, Target

PROCESS, DOCKER = PLACES[:2]


class IsolationOptions(Options):
    """Options for where targets run, and for the limits of containers. A field is ``None`` if the user did not give the option."""

    isolate: tuple[str, ...] | None = option(
        "--isolate",
        type=PLACE_LIST,
        default_text="process",
        help=f"Where targets run: {', '.join(PLACES)}; a list measures each target in each place.",
    )
    cpus: float | None = option(
        "--cpus", type=click.FloatRange(0.01, 1024), metavar="CORES", default_text="1", help="CPU limit of each container, in cores."
    )
    memory: int | None = option("--memory", type=SIZE, default_text="512m", help="Memory limit of each container.")
    network: tuple[str, ...] | None = option(
        "--network", type=NETWORK_LIST, default_text="host", help="Network of each container: host, bridge; a list measures each."
    )

    def places(self, suite: Suite | None = None) -> list[Isolation | None]:
        """Return the places where targets run: the user's choice, else the suite's, else a process.

        ``None`` in the list means a process. Raise :class:`UsageError` if options contradict each other.
        """
        names = self.isolate or (tuple(map(str, suite.isolate)) if suite else (PROCESS,))
        given = {"--cpus": self.cpus, "--memory": self.memory, "--network": self.network}
        useless = [name for name, value in given.items() if value is not None]
        if useless and set(names) == {PROCESS}:
            raise UsageError(f"{useless[0]} applies to containers only", hint="add --isolate docker")
        return [place for name in names for place in ([None] if name == PROCESS else self._isolations(name, suite))]

    def of_images(self, images: Sequence[str]) -> Isolation | None:
        """Return the container engine and limits for the images, or ``None`` if there are no images.

        Raise :class:`UsageError` if options contradict each other.
        """
        if not images:
            if any(place is not None for place in self.places()):
                raise UsageError(
                    "--isolate requires --image here: a command or a URL has no image", hint="remove --isolate, or name images"
                )
            return None
        found = [place for engine in self.isolate or (DOCKER,) if engine != PROCESS for place in self._isolations(engine, None)]
        if len(found) != 1 or PROCESS in (self.isolate or ()):
            raise UsageError("an image runs in one container engine and one network", hint="use --isolate docker or --isolate podman")
        return found[0]

    def applied(self, targets: Sequence[Target], suite: Suite | None = None) -> list[Target]:
        """Return one target for each combination of target and place. Raise :class:`UsageError` if options contradict each other."""
        from httpbench.run import everywhere

        return everywhere(targets, self.places(suite))

    def _isolations(self, engine: str, suite: Suite | None) -> list[Isolation]:
        """Return one isolation for each container network that the user or the suite chose."""
        from httpbench.model import CPUS, MEMORY_BYTES, Engine, Isolation, NetworkMode, size_bytes

        networks = self.network or (suite.network if suite else NetworkMode.HOST,)
        return [
            Isolation(
                engine=Engine(engine),
                cpus=self.cpus or (suite.cpus if suite else CPUS),
                memory_bytes=self.memory or (size_bytes(suite.memory) if suite else MEMORY_BYTES),
                network=NetworkMode(network),
            )
            for network in networks
        ]
