"""Types of values on the command line, with the suffixes that other load generators use."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast

import click

from httpbench.cli.options.choices import GATES, LATENCIES, NETWORKS, PLACES

if TYPE_CHECKING:
    from httpbench.model import Bound, Figure, Gate

DURATIONS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
MICROSECONDS = {"us": 1.0, "µs": 1.0, "ms": 1e3, "s": 1e6}
MULTIPLIERS = {"": 1, "k": 1_000, "M": 1_000_000}


class Duration(click.ParamType[float]):
    """A duration such as ``500ms``, ``10s`` or ``2m``, in seconds. A bare number is in seconds."""

    name = "duration"

    def __init__(self, shortest_s: float):
        self.shortest_s = shortest_s

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, int | float):
            return float(value)
        match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h)?", value)
        if not match:
            self.fail(f'"{value}" is not a duration; write it as 500ms, 10s or 2m', param, ctx)
        seconds = float(match[1]) * DURATIONS_S[match[2] or "s"]
        if seconds < self.shortest_s:
            self.fail(f'"{value}" is too short; the shortest is {self.shortest_s * 1000:g}ms', param, ctx)
        return seconds


class Count(click.ParamType[int]):
    """A count such as ``64``, ``10k`` or ``1M``."""

    name = "count"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?)([kM]?)", value)
        number = float(match[1]) * MULTIPLIERS[match[2]] if match else 0
        if number < 1 or number != int(number):
            self.fail(f'"{value}" is not a whole number above zero; write it as 64, 10k or 1M', param, ctx)
        return int(number)


class CountsType(click.ParamType[tuple[int, ...]]):
    """A list of counts, such as ``8,64,128,256``."""

    name = "count[,count…]"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        counts = tuple(Count().convert(word.strip(), param, ctx) for word in value.split(","))
        return tuple(dict.fromkeys(counts))


class Size(click.ParamType[int]):
    """A size such as ``512m`` or ``1g``, in bytes. Like docker, it uses powers of 1024."""

    name = "size"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        if isinstance(value, int):
            return value
        from httpbench.model import size_bytes

        try:
            return size_bytes(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class Words(click.ParamType[tuple[str, ...]]):
    """A list of words such as ``process,docker``, each once."""

    def __init__(self, noun: str, allowed: tuple[str, ...]):
        self.noun = noun
        self.name = f"{noun}[,{noun}…]"
        self.allowed = allowed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        if isinstance(value, tuple):
            return value
        words = tuple(dict.fromkeys(word.strip() for word in value.split(",")))
        if unknown := [word for word in words if word not in self.allowed]:
            self.fail(f'"{unknown[0]}" is not a {self.noun}; use {", ".join(self.allowed)}, or a list of them', param, ctx)
        return words


class Published(click.ParamType["tuple[str, Path]"]):
    """Published results of another project, such as ``techempower:results.json``."""

    name = "layout:file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, Path]:
        if isinstance(value, tuple):
            return value
        layout, _, file = value.partition(":")
        if layout != "techempower" or not file:
            self.fail(f'"{value}" names no published results; write techempower:FILE', param, ctx)
        return layout, Path(file).expanduser()


class RequestPath(click.ParamType[str]):
    """A request path such as ``/`` or ``/hello?name=x``."""

    name = "path"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if not re.fullmatch(r"/[!-~]*", value):
            self.fail(f'"{value}" is not a path: it must begin with a slash, with spaces and non-ASCII letters percent-encoded', param, ctx)
        return str(value)


class Percentage(click.ParamType[float]):
    """A percentage above zero, such as ``2%`` or ``0.5%``, as a fraction."""

    name = "percent"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if isinstance(value, float):
            return value
        match = re.fullmatch(r"(\d+(?:\.\d+)?) ?%", value)
        if not match or float(match[1]) == 0:
            self.fail(f'"{value}" is not a percentage above zero; write it as 2% or 0.5%', param, ctx)
        return float(match[1]) / 100


class LatencyBound(click.ParamType["Bound"]):
    """A latency bound such as ``p99<5ms`` or ``mean<800us``."""

    name = "figure<duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Bound:
        if not isinstance(value, str):
            return cast("Bound", value)
        match = re.fullmatch(r"\s*([a-z0-9._]+)\s*<=?\s*(\d+(?:\.\d+)?)\s*(us|µs|ms|s)\s*", value)
        figure = match[1].replace("_", ".") if match else ""
        if not match or figure not in LATENCIES:
            self.fail(f'"{value}" is not a bound; write it as p99<5ms, with one of {", ".join(LATENCIES)}', param, ctx)
        limit_us = float(match[2]) * MICROSECONDS[match[3]]
        if limit_us == 0:
            self.fail(f'"{value}": a bound must be above zero', param, ctx)
        from httpbench.model import Bound

        return Bound(figure=cast("Figure", figure.replace(".", "_")), limit_us=limit_us)


class GateParam(click.ParamType["Gate"]):
    """A gate such as ``rps<-3%`` or ``p99>10%``."""

    name = "figure<change%"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Gate:
        if not isinstance(value, str):
            return cast("Gate", value)
        match = re.fullmatch(r"\s*([a-z0-9.]+)\s*([<>])\s*([+-]?\d+(?:\.\d+)?)\s*%\s*", value)
        if not match or match[1] not in GATES:
            self.fail(f"\"{value}\" is not a gate; write it as 'rps<-3%' or 'p99>10%', with one of {', '.join(GATES)}", param, ctx)
        change = float(match[3]) / 100
        if change <= -1:
            self.fail(f'"{value}": a change must be above −100%', param, ctx)
        from httpbench.model import Gate

        return Gate(figure=match[1], side=cast("Literal['<', '>']", match[2]), change=change)


class Doublings(click.ParamType[tuple[int, ...]]):
    """A range such as ``1..256``, as 1, 2, 4 … 256. It includes the end even if that is not a power of two times the start."""

    name = "from..to"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int, ...]:
        if isinstance(value, tuple):
            return value
        first, dots, last = value.partition("..")
        if not dots:
            self.fail(f'"{value}" is not a range; write it as 1..256', param, ctx)
        low, high = Count().convert(first, param, ctx), Count().convert(last, param, ctx)
        if low > high:
            self.fail(f'"{value}" goes down; write it as {high}..{low}', param, ctx)
        steps = [low]
        while steps[-1] * 2 < high:
            steps.append(steps[-1] * 2)
        return tuple(dict.fromkeys((*steps, high)))


class Rate(click.ParamType[tuple[int | None, int]]):
    """A rate such as ``25k``, or ``10k..25k``, as first and last rate. The first is ``None`` for a constant rate."""

    name = "rate"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int | None, int]:
        if isinstance(value, tuple):
            return value
        first, dots, last = value.partition("..")
        if not dots:
            return None, Count().convert(value, param, ctx)
        low, high = Count().convert(first, param, ctx), Count().convert(last, param, ctx)
        if low >= high:
            self.fail(f'"{value}" does not rise; write it as 10k..25k', param, ctx)
        return low, high


class StepType(click.ParamType[tuple[int | None, float]]):
    """A step of a rising rate such as ``1k/60s`` or ``60s``, as rise in requests per second, if given, and seconds."""

    name = "step"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[int | None, float]:
        if isinstance(value, tuple):
            return value
        rise, slash, each = value.rpartition("/")
        return Count().convert(rise, param, ctx) if slash else None, Duration(shortest_s=0.1).convert(each, param, ctx)


DURATION = Duration(shortest_s=0.001)
DURATION_OR_NONE = Duration(shortest_s=0)
COUNT = Count()
COUNTS = CountsType()
SIZE = Size()
PLACE_LIST = Words("place", PLACES)
NETWORK_LIST = Words("network", NETWORKS)
PUBLISHED = Published()
REQUEST_PATH = RequestPath()
PERCENTAGE = Percentage()
LATENCY_BOUND = LatencyBound()
GATE = GateParam()
DOUBLINGS = Doublings()
RATE = Rate()
STEP = StepType()
