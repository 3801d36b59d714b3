"""Help without parsing: typer loads a library that converts types for any parsed word, also for `--help`."""

from typing import Any

from typer.core import TyperGroup

from fedconvex.commands.terminal import say

HELP_WORDS = ("-h", "--help")


class CommandLine(TyperGroup):
    """The group of all commands, which answers `COMMAND --help` from the command's description alone."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Print the help where the words are a command's name and `--help`; parse all others."""
        if args and args[-1] in HELP_WORDS and (chosen := _context_of(ctx, args[:-1])) is not None:
            say(chosen.get_help())
            ctx.exit()
        return super().parse_args(ctx, args)


def _context_of(context: Any, names: list[str]) -> Any:
    """The context of the command with these names, group by group; None where there is no such command."""
    for name in names:
        command = context.command.get_command(context, name) if isinstance(context.command, TyperGroup) else None
        if command is None:
            return None
        context = command.context_class(command, info_name=name, parent=context, **command.context_settings)
    return context
