"""`python -m anyffi`: commands for people who develop with the package."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> None:
    """Run the command given on a command line.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments; by default those of the process.
    """
    parser = argparse.ArgumentParser("python -m anyffi", allow_abbrev=False)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    stubgen = commands.add_parser(
        "stubgen",
        help="write a stub (.pyi) for functions in C++",
        description="Writes a stub (.pyi) with the parameters, types, defaults and docs of functions in C++.",
        allow_abbrev=False,
    )
    stubgen.add_argument(
        "source",
        metavar="MODULE",
        help="a Python module, the path of a shared library, or a prefix of registered names",
    )
    stubgen.add_argument(
        "--cpp",
        action="store_true",
        help="write a C++ header instead, with the structs of the module's dataclasses",
    )
    stubgen.add_argument("-o", "--output", metavar="FILE", help="where to write it, instead of to stdout")
    stubgen.add_argument(
        "--load",
        metavar="MODULE",
        action="append",
        default=[],
        help="a Python module or shared library to load first; may be repeated",
    )
    stubgen.add_argument(
        "--path", metavar="FOLDER", help="where to find MODULE first, before any installed one of its name"
    )
    stubgen.add_argument(
        "--prefix",
        metavar="NAME",
        help="with the path of a library: also its global functions under this prefix",
    )
    stubgen.set_defaults(run=_write_stub)

    from ._tracing.commands import add_commands

    add_commands(commands)
    options = parser.parse_args(argv)
    try:
        status = options.run(options)
    except KeyboardInterrupt:
        parser.exit(130)
    except (OSError, ValueError) as error:
        command = (sys.argv[1:] if argv is None else argv)[0]
        parser.exit(getattr(options, "status_of_errors", 1), f"python -m anyffi {command}: {error}\n")
    if status:
        parser.exit(status)


def _write_stub(options: argparse.Namespace) -> int:
    from ._stubs.generate import StubError, generate, import_from

    try:
        if options.path is not None:
            import_from(options.path)
        if options.cpp:
            from ._stubs.structs import generate_structs

            text = generate_structs([options.source, *options.load])
        else:
            text = generate(options.source, options.load, options.prefix)
    except StubError as error:
        raise ValueError(str(error)) from error
    if options.output is None:
        sys.stdout.write(text)
    else:
        with open(options.output, "w", encoding="utf-8") as file:
            file.write(text)
    return 0


if __name__ == "__main__":
    main()
