"""Settings of git that a stranger plants in a repository, so that git runs a program when somebody reads its commits or files."""

from __future__ import annotations

from pathlib import Path

from tests.planted import git


def fsmonitor(folder: Path, program: Path) -> None:
    git(folder, "config", "core.fsmonitor", str(program))


def signature(folder: Path, program: Path) -> None:
    git(folder, "config", "log.showSignature", "true")
    git(folder, "config", "gpg.program", str(program))
    raw = git(folder, "cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    (folder / "signed").write_text(f"{head}\n{signature}\n\n{message}\n")
    git(folder, "update-ref", "HEAD", git(folder, "hash-object", "-t", "commit", "-w", "signed"))
    (folder / "signed").unlink()


def hooks(folder: Path, program: Path) -> None:
    hooks = folder / "planted-hooks"
    hooks.mkdir()
    for name in ("post-index-change", "post-checkout", "reference-transaction", "fsmonitor-watchman"):
        (hooks / name).symlink_to(program)
    git(folder, "config", "core.hooksPath", str(hooks))


def clean_filter(folder: Path, program: Path, name: str = "planted", kind: str = "clean") -> None:
    git(folder, "config", f"filter.{name}.{kind}", str(program))
    git(folder, "config", f"filter.{name}.required", "true")
    (folder / ".git" / "info" / "attributes").write_text(f"* filter={name}\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def filter_process(folder: Path, program: Path) -> None:
    clean_filter(folder, program, kind="process")


def filter_with_an_odd_name(folder: Path, program: Path) -> None:
    clean_filter(folder, program, name="a=b.c")


def included(folder: Path, program: Path) -> None:
    (folder / ".git" / "more").write_text(f'[core]\n\tfsmonitor = {program}\n[filter "x"]\n\tclean = {program}\n')
    git(folder, "config", "include.path", "more")
    (folder / ".gitattributes").write_text("* filter=x\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def textconv(folder: Path, program: Path) -> None:
    for key in ("diff.planted.textconv", "diff.planted.command", "diff.external", "core.pager", "core.editor", "core.askPass"):
        git(folder, "config", key, str(program))
    git(folder, "config", "log.diffMerges", "on")
    (folder / ".gitattributes").write_text("* diff=planted\n")
    (folder / "file").write_text("ow2")  # as long as before: git compares the filtered content


def submodule(folder: Path, program: Path) -> None:
    inner = folder / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    git(inner, "commit", "--quiet", "--allow-empty", "--message", "Inner")
    git(folder, "update-index", "--add", "--cacheinfo", f"160000,{git(inner, 'rev-parse', 'HEAD')},inner")
    git(folder, "commit", "--quiet", "--message", "Add a submodule")
    (inner / "untracked").write_text("x")
    fsmonitor(inner, program)


def promisor(folder: Path, program: Path) -> None:
    """Plant a remote repository, from which a missing commit would be fetched."""
    git(folder, "config", "core.repositoryFormatVersion", "1")
    git(folder, "config", "extensions.partialClone", "origin")
    git(folder, "config", "remote.origin.promisor", "true")
    git(folder, "config", "remote.origin.url", f"ext::{program} %S")
    git(folder, "config", "remote.origin.uploadpack", str(program))
    git(folder, "config", "protocol.ext.allow", "always")
    git(folder, "config", "core.sshCommand", str(program))
    (folder / ".git" / "refs" / "heads" / "gone").write_text("1" * 40 + "\n")


KINDS = [
    fsmonitor,
    signature,
    hooks,
    clean_filter,
    filter_process,
    filter_with_an_odd_name,
    included,
    textconv,
    submodule,
    promisor,
]
"""Each plants its settings in a repository with the file ``file``. They name ``program``."""


def write_program(folder: Path) -> Path:
    """Create a program that leaves the file ``ran`` beside itself."""
    path = folder / "program"
    path.write_text(f"#!/bin/sh\ntouch {folder / 'ran'}\ncat\n")
    path.chmod(0o755)
    return path
