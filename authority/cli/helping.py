"""Help in words: what an option takes is named as a person would, not by the type that holds it."""

from functools import partial
from inspect import cleandoc
from typing import Any, TypeAlias

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

_Parameters: TypeAlias = list[Any]
"""Arguments and options, of a class that typer does not export."""


class _Command(TyperCommand):
    """A command whose help names no types."""

    def get_params(self, ctx: typer.Context) -> _Parameters:  # type: ignore[override] # its own is not exported
        """What it takes, with its help."""
        return [_in_words(parameter) for parameter in super().get_params(ctx)]


class _Group(TyperGroup):
    """A group of commands whose help names no types."""

    def get_params(self, ctx: typer.Context) -> _Parameters:  # type: ignore[override] # its own is not exported
        """What it takes, with its help."""
        return [_in_words(parameter) for parameter in super().get_params(ctx)]


def say_in_words(group: typer.Typer) -> None:
    """Lets the help of all commands of the group flow, and name no types."""
    group.info.cls = _Group
    for command in group.registered_commands:
        command.cls = _Command
        if command.callback is not None:
            command.help = _flowing(command.help or command.callback.__doc__ or "")
    for inner in group.registered_groups:
        if inner.typer_instance is not None:
            say_in_words(inner.typer_instance)


def _flowing(text: str) -> str:
    """The paragraphs in one line each: the terminal breaks them, not the source."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in cleandoc(text).split("\n\n"))


def _in_words(parameter: object) -> object:
    if isinstance(parameter, TyperArgument):
        # Its name stands beside it already.
        parameter.display_type_rich = _nothing  # type: ignore[method-assign] # each has its own
        parameter.get_usage_pieces = partial(_usage_of, parameter)  # type: ignore[method-assign] # likewise
    elif isinstance(parameter, TyperOption) and parameter.metavar is None:
        parameter.metavar, choices = _value_of(parameter)
        if choices:
            parameter.help = f"{parameter.help} One of {', '.join(choices)}."
    return parameter


def _value_of(option: TyperOption) -> tuple[str, list[str]]:
    """What stands for the value of an option, and what it may be where that is one of a few."""
    kind = option.type_descriptor
    if option.is_flag or option.count:
        return "", []
    if kind.is_choice:
        return str(option.name).upper(), [str(getattr(choice, "value", choice)) for choice in kind.choices or ()]
    return "N", []


def _usage_of(argument: TyperArgument, ctx: object) -> list[str]:  # noqa: ARG001 - typer calls it so
    """The argument as manuals write it: `RECORD`, or `[EVENT]` when it may be left out, or `NAME...` for several."""
    name = f"{argument.display_name_raw}{'' if argument.nargs == 1 else '...'}"
    return [name if argument.required else f"[{name}]"]


def _nothing(ctx: object) -> None:
    """Shown in the place of a type."""
