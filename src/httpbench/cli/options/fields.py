"""Options of a verb, defined as fields of a class so that the type, name and help of each option are in one place.

    class BenchOptions(Options):
        load: LoadOptions = group(LoadOptions)
        rounds: int = option("--rounds", type=COUNT, default=3, help="Rounds.")

    @command(BenchOptions)
    def bench(options: BenchOptions) -> ExitCode: ...

The help lists the options in the order of the fields.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform

import click

from httpbench.cli.exit_codes import ExitCode

if TYPE_CHECKING:
    from click.types import OptionHelpExtra

Form = TypeVar("Form", bound="Options")

PARAMETER, GROUP = "parameter", "group"  # keys of a field's metadata


@dataclass_transform(frozen_default=True)
class Options:
    """The base class of options. Each subclass is a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, dataclasses.Field[Any]]]

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True)(cls)


class Option(click.Option):
    """An option whose help ends with ``default_text`` or the default. Only error messages show the range of allowed values."""

    def __init__(self, *declarations: Any, default_text: str | None = None, **settings: Any):
        super().__init__(*declarations, **{"show_default": True, **settings})
        self.default_text = default_text
        if self.multiple:
            self.help = f"{self.help} May be repeated."

    def get_help_extra(self, ctx: click.Context) -> OptionHelpExtra:
        extra = super().get_help_extra(ctx)
        extra.pop("range", None)
        if self.default_text is not None:
            extra["default"] = self.default_text
        return extra


def option(*names: str, **settings: Any) -> Any:
    """Make a field for an option. ``settings`` are passed to :class:`Option`."""
    return dataclasses.field(metadata={PARAMETER: lambda name: Option([name, *names], **settings)})


def argument(**settings: Any) -> Any:
    """Make a field for an argument. ``settings`` are passed to ``click.Argument``."""
    return dataclasses.field(metadata={PARAMETER: lambda name: click.Argument([name], **settings)})


def group(form: type[Form]) -> Any:
    """Make a field for a group of options that several verbs share."""
    return dataclasses.field(metadata={GROUP: form})


def command(form: type[Form], name: str | None = None) -> Callable[[Callable[[Form], ExitCode | None]], click.Command]:
    """Return a decorator that makes a verb from a function.

    The function takes an instance of ``form`` and returns an exit code, or ``None`` for success. Its docstring becomes the verb's help.
    """

    def decorate(verb: Callable[[Form], ExitCode | None]) -> click.Command:
        def callback(**values: Any) -> ExitCode:
            return verb(_filled(form, values)) or ExitCode.OK

        return click.Command(name or verb.__name__, callback=callback, help=verb.__doc__, params=list(_parameters(form)))

    return decorate


def _parameters(form: type[Options]) -> Iterator[click.Parameter]:
    for field in dataclasses.fields(form):
        if inner := field.metadata.get(GROUP):
            yield from _parameters(inner)
        else:
            yield field.metadata[PARAMETER](field.name)


def _filled(form: type[Form], values: Mapping[str, Any]) -> Form:
    """Create a form and its groups of options. ``values`` contains the values of all parameters by name."""
    filled = {}
    for field in dataclasses.fields(form):
        inner = field.metadata.get(GROUP)
        filled[field.name] = _filled(inner, values) if inner else values[field.name]
    return form(**filled)
