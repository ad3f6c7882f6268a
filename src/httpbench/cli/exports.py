"""Export files: opened before the first trial, so that a bad path costs no measurement; written when the results are there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from httpbench.cli.terminal import console
from httpbench.errors import StoreError, UsageError

if TYPE_CHECKING:
    from httpbench.model import Run, Trial


@dataclass(frozen=True, slots=True)
class Exports:
    """Paths by format name; ``-`` is standard output."""

    paths: dict[str, str]

    @classmethod
    def of(cls, **paths: str | None) -> Exports:
        """Paths by format name; ``None``: this format was not requested."""
        return cls({name: path for name, path in paths.items() if path is not None})

    def and_printed(self, name: str | None) -> Exports:
        """With a format on standard output besides; ``None``: without. Raises :class:`UsageError` if the format has a file."""
        if name is None:
            return self
        if name in self.paths:
            raise UsageError(f"--format {name} and --export-{name} name the same format", hint="use one of them")
        return Exports({**self.paths, name: "-"})

    @property
    def to_stdout(self) -> bool:
        """Whether an export is written to standard output."""
        return "-" in self.paths.values()

    def check(self) -> None:
        """Raises :class:`UsageError` if a file cannot be written, two exports name the same file, or a package is missing."""
        if "html" in self.paths:
            from httpbench.report.html import check_html

            check_html()
        named = list(self.paths.values())
        for path in named:
            if named.count(path) > 1:
                raise UsageError(f"two exports are written to {'standard output' if path == '-' else path}", hint="name two files")
        for path in set(named) - {"-"}:
            try:
                with Path(path).open("a"):
                    pass
            except OSError as error:
                hint = "name another file, or - for standard output"
                raise UsageError(f"cannot write the export {path}: {error.strerror}", hint=hint) from None

    def write(self, run: Run, trials: Sequence[Trial]) -> None:
        """Writes all files, then raises :class:`StoreError` for those that could not be written."""
        from httpbench.report import CLIENT_FORMATS, FORMATS

        self.put({name: {**FORMATS, **CLIENT_FORMATS}[name](run, trials) for name in self.paths})

    def put(self, texts: Mapping[str, str]) -> None:
        """Writes a text for each format. Raises as :meth:`write` does."""
        problems = []
        for name, path in self.paths.items():
            if path == "-":
                console.write(texts[name])
                continue
            try:
                console.save(texts[name], Path(path))
            except OSError as error:
                problems.append(f"cannot write the export {path}: {error.strerror}")
        if problems:
            raise StoreError("\n".join(problems), hint="`httpbench report` exports the stored run again")
