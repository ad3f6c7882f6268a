"""Tests that completion is installed where each shell looks for it, and that it works there."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from httpbench.cli.main import cli
from httpbench.errors import UsageError

PLACES = {
    "bash": ".local/share/bash-completion/completions/httpbench",
    "zsh": ".local/share/zsh/site-functions/_httpbench",
    "fish": ".config/fish/completions/httpbench.fish",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "ZDOTDIR", "BASH_COMPLETION_USER_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def completion(*words: str) -> Result:
    done = CliRunner().invoke(cli, ["completion", *words])
    if isinstance(done.exception, UsageError):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


@pytest.mark.parametrize("shell", PLACES)
def test_the_script_is_written_where_the_shell_looks(home: Path, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", f"/usr/bin/{shell}")
    done = completion()
    assert f"installed {home / PLACES[shell]}" in done.stderr
    script = (home / PLACES[shell]).read_text()
    assert script == completion(shell, "--print").stdout
    assert f"_HTTPBENCH_COMPLETE={shell}_complete" in script


def test_zshs_configuration_gets_the_folder_once(home: Path) -> None:
    (home / ".zshrc").write_text("bindkey -e")
    assert f"added its folder to {home / '.zshrc'}" in completion("zsh").stderr
    assert "added" not in completion("zsh").stderr
    lines = (home / ".zshrc").read_text().splitlines()
    assert lines[0] == "bindkey -e"
    assert lines[2:] == [f'fpath=("{home}/.local/share/zsh/site-functions" $fpath)', "autoload -Uz compinit && compinit"]


def test_printing_installs_nothing(home: Path) -> None:
    for shell in PLACES:
        completion(shell, "--print")
    assert list(home.iterdir()) == []


@pytest.mark.parametrize("shell", ["", "/bin/dash"])
def test_an_unknown_shell_gives_one_sentence(home: Path, shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHELL", shell)
    with pytest.raises(UsageError, match=r"^there is no completion for (dash|an unknown shell)$") as caught:
        completion()
    assert caught.value.hint == "name one: bash, zsh, fish"


def test_an_unwritable_folder_gives_one_sentence(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", "/proc/config")
    with pytest.raises(UsageError, match=r"^cannot write /proc/config") as caught:
        completion("fish")
    assert caught.value.hint == "httpbench completion fish --print prints the script"


CHECKS = {
    "bash": 'source "$HOME/{place}" && complete -p httpbench',
    "zsh": 'fpath=("$HOME/.local/share/zsh/site-functions" $fpath); autoload -Uz compinit; compinit -u; print -r -- $_comps[httpbench]',
    "fish": 'source "$HOME/{place}"; and complete --command httpbench',
}


@pytest.mark.parametrize("shell", CHECKS)
def test_the_shell_accepts_the_script(home: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    completion(shell)
    script = CHECKS[shell].format(place=PLACES[shell])
    done = subprocess.run([program, "-c", script], capture_output=True, text=True, timeout=30, check=False, env=dict(os.environ))
    assert done.returncode == 0, done.stderr
    assert "httpbench" in done.stdout
