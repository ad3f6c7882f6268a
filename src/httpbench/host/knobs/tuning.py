"""Set the knobs of this machine for measurements, and restore the old values later, even if httpbench is killed in between.

Before the first change, httpbench writes a journal with the old contents of every file to disk. It deletes the journal only after all files
have their old contents again. If httpbench is killed between two steps, either nothing has changed, or the journal contains the values to
restore. A second ``apply`` never replaces the contents that the first one recorded. A reboot resets all knobs, so a journal from an earlier
boot is ignored.

This has a drawback: if another program sets a knob between ``apply`` and ``reset``, ``reset`` overwrites that program's value.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError

from httpbench.errors import TuneError
from httpbench.host.kernel_files import read_text
from httpbench.host.knobs.all_knobs import KNOBS
from httpbench.host.knobs.knob import Knob, Setting, read_value
from httpbench.model import Frozen
from httpbench.paths import open_unlinked, read_unlinked

JOURNAL = Path("/var/lib/httpbench/tune.json")
"""Path of the journal. It belongs to the machine, not to a user, so that anyone with permission to reset the knobs finds it."""

BOOT_ID = "proc/sys/kernel/random/boot_id"


class Journal(Frozen):
    """The original values of settings that were changed."""

    boot_id: str
    before: dict[str, str]
    """Content of each file before it was first changed, by path relative to the root."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting, and its value before httpbench changed it, or ``None`` if httpbench didn't change it."""

    knob: Knob
    setting: Setting
    before: str | None


@dataclass(slots=True)
class TuningOutcome:
    """The result of changing settings. It contains the old and new value of each changed path, and a reason for each failed path."""

    changed: dict[str, tuple[str, str]] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    rebooted: bool = False
    """Whether the journal was from an earlier boot. If so, the reboot has already reset all knobs."""


@dataclass(frozen=True, slots=True)
class KnobTuning:
    """The knobs of a machine. All paths are relative to ``root``."""

    journal: Path = JOURNAL
    root: Path = Path("/")

    def show(self, knobs: Sequence[Knob] = tuple(KNOBS.values())) -> list[Shown]:
        """Return every setting that this machine has. Raise :class:`TuneError` if the journal can't be read."""
        known = self._current().before
        return [Shown(knob, setting, known.get(setting.path)) for knob in knobs for setting in knob.settings(self.root)]

    def apply(self, knobs: Sequence[Knob] = tuple(KNOBS.values())) -> TuningOutcome:
        """Change all settings that differ from the wanted ones.

        Raise :class:`TuneError` before any change if the journal can't be written.
        """
        outcome = TuningOutcome()
        with self._locked():
            todo = [setting for knob in knobs for setting in knob.settings(self.root) if not setting.is_fine]
            known = self._current()
            if todo:
                before = {setting.path: setting.now for setting in todo} | known.before
                self._save(Journal(boot_id=known.boot_id, before=before))
            for setting in todo:
                self._set(setting.path, setting.now, setting.wanted, outcome)
            self._forget_restored()
        return outcome

    def reset(self) -> TuningOutcome:
        """Restore all settings in the journal. Settings that can't be restored stay in the journal.

        Raise :class:`TuneError` if the journal can't be read or written.
        """
        outcome = TuningOutcome()
        if self._stored() is None:
            return outcome
        with self._locked():
            stored, known = self._stored(), self._current()
            outcome.rebooted = stored is not None and stored.boot_id != known.boot_id
            ours = {setting.path for knob in KNOBS.values() for setting in knob.settings(self.root)}
            for path, before in known.before.items():
                if path not in ours:
                    outcome.failed[path] = "it is not a knob of this machine, so it was not changed"
                    continue
                now = read_value(self.root / path)
                if now != before:
                    self._set(path, now or "", before, outcome)
            self._forget_restored()
        return outcome

    def _set(self, path: str, now: str, value: str, outcome: TuningOutcome) -> None:
        try:
            (self.root / path).write_text(f"{value}\n")
        except OSError as error:
            outcome.failed[path] = f"{error.strerror} (writing {value})"
            return
        held = read_value(self.root / path)
        if held == value:
            outcome.changed[path] = (now, value)
        else:
            outcome.failed[path] = f"the kernel accepted {value} but holds {held}"

    def _current(self) -> Journal:
        """Return the stored journal if it is from this boot, otherwise an empty journal."""
        boot_id = read_text(self.root / BOOT_ID) or "unknown"
        stored = self._stored()
        return stored if stored is not None and stored.boot_id == boot_id else Journal(boot_id=boot_id, before={})

    def _stored(self) -> Journal | None:
        try:
            return Journal.model_validate_json(read_unlinked(self.journal))
        except FileNotFoundError:
            return None
        except (OSError, ValidationError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not a journal of httpbench"
            raise TuneError(
                f"{self.journal} cannot be read ({reason}), so the original settings are unknown",
                hint="delete it; the next boot restores all knobs",
            ) from None

    def _forget_restored(self) -> None:
        """Remove restored settings from the journal."""
        known = self._current()
        left = {path: before for path, before in known.before.items() if read_value(self.root / path) != before}
        if left != known.before:
            self._save(Journal(boot_id=known.boot_id, before=left))
        if not left:
            self.journal.unlink(missing_ok=True)

    def _save(self, journal: Journal) -> None:
        """Replace the journal atomically, and return once it is on disk."""
        fresh = self.journal.with_suffix(".new")
        try:
            with os.fdopen(open_unlinked(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644), "w") as file:
                json.dump(journal.model_dump(), file, indent=2)
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(self.journal)
            folder = os.open(self.journal.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
        except OSError as error:
            raise _cannot_write(error, fresh) from None

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold a lock that keeps other processes from changing knobs. They could mistake our changes for the original settings."""
        lock = self.journal.with_suffix(".lock")
        try:
            self.journal.parent.mkdir(parents=True, exist_ok=True)
            descriptor = open_unlinked(lock, os.O_RDWR | os.O_CREAT)
        except OSError as error:
            raise _cannot_write(error, lock, "; nothing was changed") from None
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise TuneError("another httpbench is changing the knobs of this machine", hint="wait until it ends") from None
            yield
        finally:
            os.close(descriptor)


def _cannot_write(error: OSError, path: Path, consequence: str = "") -> TuneError:
    return TuneError(
        f"{error.filename or path} cannot be written ({error.strerror}){consequence}",
        hint="run it as root: sudo httpbench tune …" if os.geteuid() else "choose another place with --journal FILE",
    )
