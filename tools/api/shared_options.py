"""
Options of a compilation that both commands and the Python API have, each said once.

    from_level: Annotated[Stage, "LEVEL  the level of the program …"]
        --from-level LEVEL        of xrelay-opt and xrelay-run
        from_level="planned"      of xrelay.compile and xrelay.run_pipeline

The class is the type of the keywords in Python; a `Parser` makes them options of a command, and a
`Session` follows them.
"""

from argparse import Namespace
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypedDict, cast, get_args, get_origin

from ...passes.support.levels import Stage
from ..errors import UsageError


class SharedOptions(TypedDict, total=False):
    """The options; their annotations have their types and what the help says."""

    from_level: Annotated[
        Stage, "LEVEL  the level of the program: omit the passes of the pipeline that lead to it"
    ]
    to_level: Annotated[Stage, "LEVEL  omit the passes of the pipeline that follow this level"]
    allow_unregistered_dialect: Annotated[
        bool,
        "accept ops and attributes that no dialect defines, and operators of Relay programs that "
        "the dialect lacks",
    ]


def shared_options(parsed: Namespace | Mapping[str, Any]) -> SharedOptions:
    """
    Return the options on a command line, or those that a caller in Python gives.

    Raises `TypeError` for an unknown keyword, and `UsageError` for a wrong value.
    """
    given = vars(parsed) if isinstance(parsed, Namespace) else parsed
    hints: Mapping[str, Any] = SharedOptions.__annotations__
    found = {name: given[name] for name in hints if given.get(name) is not None}
    unknown = [] if isinstance(parsed, Namespace) else [name for name in given if name not in hints]
    if unknown:
        raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
    for name, value in found.items():
        type = get_args(hints[name])[0]
        known = get_args(type) if get_origin(type) is Literal else (True, False)
        if value not in known:
            listed = ", ".join(map(str, known))
            raise UsageError(f"{name} must be one of {listed}, but is {value!r:.80}")
    return cast("SharedOptions", found)
