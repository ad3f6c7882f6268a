"""Tests that ``reset`` restores a fake machine, no matter when ``apply`` or an earlier ``reset`` was interrupted."""

from __future__ import annotations

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.errors import TuneError
from httpbench.host import KNOBS, KnobTuning
from httpbench.host.knobs.all_knobs import tuned
from httpbench.host.knobs.knob import read_value
from tests.unit.host.fake import DISTURBED, quiet, write

WRITES = ("open", "os.rename", "os.remove", "os.mkdir", "os.truncate")
FILES = {path: " ".join(content.split()) for files in DISTURBED.values() for path, content in files.items()}


def disturbed(root: Path, names: Sequence[str] = tuple(DISTURBED)) -> KnobTuning:
    """Make a machine whose knobs don't have their recommended values, and return its tuning."""
    quiet(root)
    for name in names:
        write(root, DISTURBED[name])
    return KnobTuning(root / "var/lib/httpbench/tune.json", root)


def held(tuning: KnobTuning) -> dict[str, str | None]:
    return {path: read_value(tuning.root / path) for path in FILES}


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do the work in a child process that kills itself after changing files ``step`` times. Return whether it was killed.

    It kills itself just before the next change. It ends normally if there are no further changes.
    """
    child = os.fork()
    if child == 0:
        left = step

        def hook(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal left
            if event in WRITES and (event != "open" or arguments[2] & os.O_ACCMODE != os.O_RDONLY):
                left -= 1
                if left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(hook)
        work()
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) in (0, -signal.SIGKILL)
    return os.WIFSIGNALED(status)


def test_every_knob_can_be_set_and_restored(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path)
    assert {shown.knob.name for shown in tuning.show() if not shown.setting.is_fine} == set(KNOBS) == set(DISTURBED)
    applied = tuning.apply()
    assert (set(applied.changed), applied.failed) == (set(FILES), {})
    assert all(
        shown.setting.is_fine and shown.before == FILES[shown.setting.path] for shown in tuning.show() if shown.setting.path in FILES
    )
    assert {path: after for path, (_, after) in tuning.reset().changed.items()} == FILES
    assert held(tuning) == FILES
    assert not tuning.journal.exists()


def test_reset_restores_everything_after_a_kill_at_any_step(tmp_path: Path) -> None:
    steps = 0
    while True:
        tuning = disturbed(tmp_path / str(steps))
        was_killed = killed_at(steps, tuning.apply)
        resets = 0
        while killed_at(resets, tuning.reset):
            resets += 1
        tuning.reset()
        assert held(tuning) == FILES, f"killed at step {steps}"
        assert not tuning.journal.exists()
        if not was_killed:
            break
        steps += 1
    assert steps > len(FILES)


ACTIONS = st.lists(st.tuples(st.sampled_from(["apply", "reset"]), st.sampled_from([*KNOBS, None]), st.integers(0, 12)), max_size=5)


@settings(max_examples=40, deadline=None)
@given(names=st.sets(st.sampled_from(list(DISTURBED)), min_size=1), actions=ACTIONS)
def test_reset_restores_everything_after_any_sequence_of_actions(names: set[str], actions: list[tuple[str, str | None, int]]) -> None:
    with TemporaryDirectory() as folder:
        tuning = disturbed(Path(folder), sorted(names))
        before = held(tuning)
        for action, name, step in actions:
            knobs = [KNOBS[name]] if name else list(KNOBS.values())
            killed_at(step, lambda action=action, knobs=knobs: tuning.apply(knobs) if action == "apply" else tuning.reset())  # type: ignore[misc]
        tuning.reset()
        assert held(tuning) == before


def test_a_second_apply_keeps_the_first_journal(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path, ["backlog"])
    tuning.apply()
    write(tmp_path, {"proc/sys/net/core/somaxconn": "64"})  # another program changes it
    tuning.apply()
    tuning.reset()
    assert read_value(tmp_path / "proc/sys/net/core/somaxconn") == "128"


def test_only_the_given_knobs_are_set(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path)
    assert set(tuning.apply([KNOBS["packet-queue"]]).changed) == set(DISTURBED["packet-queue"])


def test_values_above_the_minimum_are_kept(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path, [])
    write(tmp_path, {"proc/sys/net/core/somaxconn": "65535", "proc/sys/net/ipv4/ip_local_port_range": "1024 65535"})
    assert tuning.apply().changed == {}
    assert not tuning.journal.exists()


def test_a_journal_from_an_earlier_boot_is_ignored(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path, ["packet-queue"])
    tuning.apply()
    write(tmp_path, {"proc/sys/kernel/random/boot_id": "second"})
    assert all(shown.before is None for shown in tuning.show())
    outcome = tuning.reset()
    assert (outcome.rebooted, outcome.changed) == (True, {})
    assert not tuning.journal.exists()


def test_a_rejected_value_is_reported_and_the_other_knobs_are_set(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tuning = disturbed(tmp_path)
    write_text = Path.write_text

    def stubborn(path: Path, text: str) -> int:
        if path.name == "no_turbo":
            raise PermissionError(1, "Operation not permitted")
        return write_text(path, "12288\n" if path.name == "netdev_max_backlog" and text == "16384\n" else text)

    monkeypatch.setattr(Path, "write_text", stubborn)
    outcome = tuning.apply()
    reasons = {Path(path).name: reason for path, reason in outcome.failed.items()}
    assert reasons == {
        "no_turbo": "Operation not permitted (writing 1)",
        "netdev_max_backlog": "the kernel accepted 16384 but holds 12288",
    }
    assert len(outcome.changed) == len(FILES) - 2
    assert tuning.reset().failed == {}  # a knob that could not be set needs no restoring
    assert held(tuning) == FILES


def test_nothing_changes_if_the_journal_cannot_be_written(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path)
    write(tmp_path, {"var": "a file where a folder should be"})
    with pytest.raises(TuneError, match="nothing was changed"):
        tuning.apply()
    assert held(tuning) == FILES


def test_an_invalid_journal_is_an_error(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path)
    write(tmp_path, {"var/lib/httpbench/tune.json": "{}"})
    with pytest.raises(TuneError, match="the original settings are unknown"):
        tuning.reset()
    with pytest.raises(TuneError):
        tuning.apply()
    assert held(tuning) == FILES


@pytest.mark.parametrize("suffix", [".json", ".new", ".lock"])
@pytest.mark.parametrize("action", ["apply", "reset"])
def test_planted_links_are_not_followed(tmp_path: Path, suffix: str, action: str) -> None:
    tuning = disturbed(tmp_path)
    victim = tmp_path / "victim"
    if action == "reset":
        tuning.apply()
        victim.write_text(tuning.journal.read_text())
    else:
        victim.write_text('{"boot_id": "earlier", "before": {}}')
    before, content = held(tuning), victim.read_text()
    planted = tuning.journal.with_suffix(suffix)
    planted.parent.mkdir(parents=True, exist_ok=True)
    planted.unlink(missing_ok=True)
    planted.symlink_to(victim)
    with pytest.raises(TuneError, match=rf"tune{suffix} cannot be (read|written) \(it is a symbolic link\)"):
        getattr(tuning, action)()
    assert victim.read_text() == content
    if suffix != ".new" or action == "apply":
        assert held(tuning) == before


def test_two_processes_cannot_change_knobs_at_once(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path)
    with tuning._locked(), pytest.raises(TuneError, match="another httpbench"):
        tuning.apply()
    assert tuning.apply().failed == {}


def test_the_environment_contains_the_state_of_each_knob(tmp_path: Path) -> None:
    tuning = disturbed(tmp_path, ["governor", "backlog"])
    assert (tuned(tmp_path)["governor"], tuned(tmp_path)["backlog"]) == ("schedutil", "128,512")
    write(tmp_path, {"sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "performance"})
    assert tuned(tmp_path)["governor"] == "performance,schedutil"
    assert tuning.apply().failed == {}
    assert tuned(tmp_path)["governor"] == "performance"


def test_each_knob_is_documented() -> None:
    page = (Path(__file__).parents[4] / "docs" / "prepare.md").read_text()
    section = page.partition("## Knobs")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE) == list(KNOBS)


@pytest.mark.parametrize(
    "path", ["etc/passwd", "../etc/passwd", "/etc/passwd", "proc/sys/net/core/../../../../etc/passwd", "proc/sys/kernel/core_pattern"]
)
def test_reset_writes_only_to_known_knobs(tmp_path: Path, path: str) -> None:
    tuning = disturbed(tmp_path, ["packet-queue"])
    write(tmp_path, {"etc/passwd": "root", "proc/sys/kernel/core_pattern": "core"})
    tuning.apply()
    journal = json.loads(tuning.journal.read_text())
    journal["before"][path] = "|/tmp/evil"
    tuning.journal.write_text(json.dumps(journal))
    outcome = tuning.reset()
    assert outcome.failed == {path: "it is not a knob of this machine, so it was not changed"}
    assert set(outcome.changed) == set(DISTURBED["packet-queue"])
    assert [(tmp_path / name).read_text().strip() for name in ("etc/passwd", "proc/sys/kernel/core_pattern")] == ["root", "core"]
