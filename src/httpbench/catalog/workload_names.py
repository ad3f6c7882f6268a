"""Find a workload by name.

A name is the name of a workload file, such a name with another number of rows (``query-5``), or a mix (``json:3,db:1``).
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from httpbench.catalog.files import did_you_mean
from httpbench.errors import SelectionError
from httpbench.model import Kind, MixPart, Workload

ROWS_MAX = 500
"""The maximum number of rows under TechEmpower's rules."""
PARTS_MAX = 16
"""The maximum number of parts in a mix that the native load generator accepts."""
WEIGHT_MAX = 1000
MIX_FORM = "write a mix as json:3,db:1"


def find(known: Mapping[str, Workload], name: str) -> Workload:
    """Return the workload with that name. Raises :class:`SelectionError` if there is none."""
    if "," in name or ":" in name:
        return _mix(known, name)
    found = known.get(name) or _with_other_rows(known, name)
    if found is None:
        raise SelectionError(
            f'unknown workload "{name}"{did_you_mean(name, list(known))}',
            hint=f"use one of {', '.join(sorted(known))}; {_families(known)}; or a mix, such as json:3,db:1",
        )
    return found


def _with_other_rows(known: Mapping[str, Workload], name: str) -> Workload | None:
    """Derive a workload such as ``query-5`` from ``query-20``. Return ``None`` if the name isn't a test with a valid number of rows."""
    test, _, number = name.rpartition("-")
    base = next((workload for workload in known.values() if workload.asked == test and workload.expect.rows), None)
    if base is None or not re.fullmatch(r"[1-9][0-9]{0,2}", number) or int(number) > ROWS_MAX:
        return None
    rows, path = int(number), re.sub(rf"{base.expect.rows}$", number, base.request.path)
    return base.model_copy(
        update={
            "name": name,
            "description": f"{base.description}; here {rows}",
            "request": base.request.model_copy(update={"path": path}),
            "expect": base.expect.model_copy(update={"rows": rows}),
        }
    )


def _families(known: Mapping[str, Workload]) -> str:
    """List the patterns of workload names that contain a number of rows, such as ``query-N``."""
    names = sorted({workload.asked for workload in known.values() if workload.expect.rows})
    return f"{', '.join(f'{name}-N' for name in names)} with N from 1 to {ROWS_MAX}"


def _mix(known: Mapping[str, Workload], name: str) -> Workload:
    parts = tuple(_part(known, text, name) for text in name.split(","))
    names = [part.name for part in parts]
    if len(parts) < 2 or len(set(names)) < len(names) or len(parts) > PARTS_MAX:
        raise SelectionError(f'"{name}" is not a mix: a mix takes 2 to {PARTS_MAX} different workloads', hint=MIX_FORM)
    return Workload(name=name, description=f"A mix of {_shares(parts)}", request=parts[0].request, expect=parts[0].expect, parts=parts)


def _part(known: Mapping[str, Workload], text: str, name: str) -> MixPart:
    found = re.fullmatch(r"([^:]+)(?::([1-9][0-9]{0,3}))?", text)
    weight = int(found[2] or 1) if found else 0
    if not found or weight > WEIGHT_MAX:
        raise SelectionError(f'"{name}" is not a mix: "{text}" is not NAME:WEIGHT, with a weight from 1 to {WEIGHT_MAX}', hint=MIX_FORM)
    workload = find(known, found[1])
    if workload.kind is not Kind.SERVER:
        raise SelectionError(f'"{name}": {found[1]} is not for servers, and only servers accept a mix', hint=MIX_FORM)
    return MixPart.of(weight, workload)


def _shares(parts: tuple[MixPart, ...]) -> str:
    """Format the share of each part, as in ``75% json and 25% db``."""
    total = sum(part.weight for part in parts)
    *before, last = [f"{100 * part.weight / total:.3g}% {part.name}" for part in parts]
    return f"{', '.join(before)} and {last}"
