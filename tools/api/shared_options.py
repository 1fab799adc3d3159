"""
Options of a compilation that both commands and the Python API have, each said once.

    from_level: Annotated[Stage, "the level of the program …"]
        --from-level LEVEL        of xrelay-opt and xrelay-run
        from_level="planned"      of xrelay.compile and xrelay.run_pipeline

The class is the type of the keywords in Python; `add_shared_options` declares them for argparse,
and a `Session` follows them.
"""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, cast, get_args, get_origin, get_type_hints

from ...passes.support.levels import Stage
from ..errors import UsageError
from ..option_types import Group, flag


class SharedOptions(TypedDict, total=False):
    """The options; their annotations have their types and what the help says."""

    from_level: Annotated[
        Stage, "the level of the program: omit the passes of the pipeline that lead to it"
    ]
    to_level: Annotated[Stage, "omit the passes of the pipeline that follow this level"]
    allow_unregistered_dialect: Annotated[
        bool,
        "accept ops and attributes that no dialect defines, and operators of Relay programs that "
        "the dialect lacks",
    ]


def _hints() -> Mapping[str, tuple[Any, str]]:
    hints = get_type_hints(SharedOptions, include_extras=True)
    return {name: (get_args(hint)[0], get_args(hint)[1]) for name, hint in hints.items()}


def add_shared_options(group: Group) -> None:
    """Declare the options of a command."""
    for name, (type, help) in _hints().items():
        option = f"--{name.replace('_', '-')}"
        if type is bool:
            flag(group, option, help=help)
        else:
            metavar = name.rpartition("_")[2].upper()
            group.add_argument(option, choices=get_args(type), metavar=metavar, help=help)


def shared_options(parsed: Namespace | Mapping[str, Any]) -> SharedOptions:
    """
    Return the options on a command line, or those that a caller in Python gives.

    Raises `TypeError` for an unknown keyword, and `UsageError` for a wrong value.
    """
    given = vars(parsed) if isinstance(parsed, Namespace) else parsed
    hints = _hints()
    found = {name: given[name] for name in hints if given.get(name) is not None}
    unknown = [] if isinstance(parsed, Namespace) else [name for name in given if name not in hints]
    if unknown:
        raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
    for name, value in found.items():
        type = hints[name][0]
        known = get_args(type) if get_origin(type) is Literal else (True, False)
        if value not in known:
            listed = ", ".join(map(str, known))
            raise UsageError(f"{name} must be one of {listed}, but is {value!r:.80}")
    return cast("SharedOptions", found)
