"""Tests of the stages of a Dockerfile, and the images that a build requires."""

from __future__ import annotations

import pytest

from httpbench.run.builds.dockerfile import BuildStage, images, stages

WHOLE = """\
# syntax=docker/dockerfile:1
ARG VERSION=3.19 \\
    FAMILY="alpine"
arg IMAGE='${FAMILY}:${VERSION}'
FROM --platform=linux/amd64 ${IMAGE} AS Build
RUN make \\
    # a comment between
    FROM nothing && \\
    cp --from=neither .
RUN <<END
FROM within/a-document
END
FROM build as test
RUN --mount=type=cache,target=/c --mount=type=bind,from=tools:2,target=/t make test

from scratch
COPY --chown=1 --from=build /a /a
COPY --from=1 /b /b
COPY --from=composer:latest /usr/bin/composer /c
"""


def test_stages_have_bases_and_sources() -> None:
    assert stages(WHOLE, {}) == [
        BuildStage("Build", "alpine:3.19", ()),
        BuildStage("test", "build", ("tools:2",)),
        BuildStage(None, "scratch", ("build", "1", "composer:latest")),
    ]


def test_stages_are_not_images() -> None:
    assert images(stages(WHOLE, {})) == ["alpine:3.19", "tools:2", "composer:latest"]


def test_given_values_override_defaults() -> None:
    assert stages(WHOLE, {"VERSION": "4", "OTHER": "5"})[0].base == "alpine:4"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", []),
        ("RUN true\n", []),
        ("FROM\n", []),
        ("FROM a AS a\nFROM a\n", ["a"]),
        ("FROM b\nFROM a\n FROM b\n", ["b", "a"]),
        ("ARG T\nFROM a:${T:-1}\n", ["a:1"]),
        ("ARG T=2\r\nFROM a:${T:-1}\r\n", ["a:2"]),
        ("FROM a:${UNKNOWN}\n", ["a:"]),
        ('ARG T=1\nFROM "a:${T}" AS b\n', ["a:1"]),
        ("FROM a\\\n", ["a"]),
        ("FROM a\nRUN <<END\nFROM b\n", ["a"]),
        ("ARG A=$B\nARG B=$A\nFROM a:$A\n", ["a:"]),
    ],
)
def test_any_text_can_be_parsed(text: str, found: list[str]) -> None:
    assert images(stages(text, {})) == found
