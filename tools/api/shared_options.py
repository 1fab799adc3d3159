"""
Formats of programs, and options that both commands and the Python API have, each said once.

    from_level: Annotated[Stage, "LEVEL  the level of the program …"]
        --from-level LEVEL        of xrelay-opt and xrelay-run
        from_level="planned"      of xrelay.compile and xrelay.run_pipeline

The class is the type of the keywords in Python; a `Parser` makes them options of a command, and a
`Session` follows them.
"""

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    TypedDict,
    cast,
    get_args,
    get_origin,
)

from ...passes.support.levels import Stage
from ..errors import UsageError

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.utils.exceptions import DiagnosticException

    from ...frontends.conversion import Conversion
    from ...runtime.calls.input_bindings import InputBindings
    from ..opt.summary import Summary
    from .source import Part, Source


Frontend: TypeAlias = Literal["mlir", "onnx", "relay", "rly", "relay-json"]

FRONTENDS: tuple[str, ...] = get_args(Frontend)


def load_relay(ctx: "Context", frontend: str, part: "Part", name: str) -> "Conversion":
    """Read a Relay program; constants of more than 1 KiB become weights."""
    from ...frontends.relay_text import load_json, load_module

    if frontend == "relay-json":
        return load_json(ctx, part.text, name)
    return load_module(ctx, part.text, name, part.lines_before)


def load_onnx(
    ctx: "Context", source: "Source", bindings: "InputBindings | None" = None
) -> "Conversion":
    """Convert an ONNX model with dims that are bound."""
    from ...frontends.onnx import load_module

    folder = Path(source.name).parent if source.is_file else None
    return load_module(ctx, source.data, source.name, bindings, folder)


def summarize_onnx(
    source: "Source", bindings: "InputBindings"
) -> "tuple[Summary, DiagnosticException | None]":
    """Return what a model needs, has and computes, and why it cannot be converted."""
    from ...frontends.onnx import reading

    with reading(source.name):
        from ..opt.model_summary import summary_of_model  # imports onnx

        return summary_of_model(source, bindings)


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
    options = {name: given[name] for name in hints if given.get(name) is not None}
    unknown = [] if isinstance(parsed, Namespace) else [name for name in given if name not in hints]
    if unknown:
        raise TypeError(f"unexpected keyword argument '{unknown[0]}'")
    for name, value in options.items():
        type = get_args(hints[name])[0]
        known = get_args(type) if get_origin(type) is Literal else (True, False)
        if value not in known:
            listed = ", ".join(map(str, known))
            raise UsageError(f"{name} must be one of {listed}, but is {value!r:.80}")
    return cast("SharedOptions", options)
