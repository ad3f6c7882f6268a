"""Read a clone of the-benchmarker/web-frameworks, which has a ``config.yaml`` in each ``LANGUAGE/FRAMEWORK`` folder.

A new clone contains no Dockerfiles. Running ``rake config`` in the clone writes one for each engine, named ``.Dockerfile.ENGINE``. Each of
these Dockerfiles becomes a target, ``language/framework/engine``, that runs in a container and listens on port 3000. A framework without a
Dockerfile is listed with the reason why it can't run.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.catalog.foreign import dockerfile_problems, foreign_target, no_clone
from httpbench.model import USUAL_CAPABILITIES, ContainerRecipe, Entry, Target
from httpbench.paths import engine_of, found_inside, id_part

NAME = "web-frameworks"
CONFIGURATION = "config.yaml"
PORT = 3000
PATHS = {f"{NAME}-index": "/", f"{NAME}-user": "/user/0", f"{NAME}-create": "/user"}
"""Request paths of all frameworks, by workload name."""


def read(folder: Path) -> list[Target]:
    """Return all targets of a clone, including those without a Dockerfile. Raises :class:`CatalogError` if the folder isn't a clone."""
    frameworks = [path.parent for path in found_inside(folder.absolute(), f"*/*/{CONFIGURATION}")]
    if not frameworks:
        raise no_clone(folder, f"LANGUAGE/FRAMEWORK/{CONFIGURATION}", NAME, "the-benchmarker/web-frameworks")
    return [
        _target(framework, dockerfile)
        for framework in frameworks
        for dockerfile in tuple(sorted(framework.glob(".Dockerfile.*"))) or (None,)
    ]


def _target(framework: Path, dockerfile: Path | None) -> Target:
    name = id_part(framework.name)
    variant = engine_of(dockerfile) if dockerfile else None
    entry = Entry(
        catalogue=NAME,
        name=f"{name}-{variant}" if variant else name,
        display_name=f"{framework.name} ({variant})" if variant else framework.name,
        webserver=variant,
        unsupported=None if dockerfile else "it has no Dockerfile; run `rake config` in the clone to create it",
        problems=tuple(dockerfile_problems(framework, dockerfile.name)) if dockerfile else (),
    )
    return foreign_target(
        entry,
        framework.parent.name,
        name,
        variant,
        folder=str(framework),
        container=ContainerRecipe(
            dockerfile=dockerfile.name if dockerfile else "Dockerfile", port=PORT, fixed_port=True, capabilities=USUAL_CAPABILITIES
        ),
        paths=PATHS,
    )
