"""
The sections that plug-ins add to executables.

    [project.entry-points."xrelay.sections"]
    demo = "xrelay_demo.section:contents_of"

The function is called with each program that is written. It returns the bytes of section `demo`, or
None for no section. A reader without the plug-in ignores it.
"""

from __future__ import annotations

from collections.abc import Callable
from warnings import warn

from ..entry_points import entry_points_of
from ..program.program import Program

GROUP = "xrelay.sections"
"""The group of entry points."""


def added_sections(program: Program) -> dict[str, bytes]:
    """
    Return the sections of plug-ins for `program`, by the names of their entry points.

    A plug-in that fails, returns other objects than bytes, or whose name is that of a section or
    none, is skipped with a warning.
    """
    from .layout import is_section_name
    from .sections import SECTIONS

    added: dict[str, bytes] = {}
    for entry in sorted(entry_points_of(GROUP)):
        reason, content = "", None
        if entry.name in (*SECTIONS, *added) or not is_section_name(entry.name):
            reason = "its name must be up to 16 ASCII letters, digits and -, and not be taken"
        else:
            try:
                contents_of: Callable[[Program], object] = entry.load()
                content = contents_of(program)
            except (Exception, SystemExit) as error:  # a plug-in may fail in any way
                reason = f"{type(error).__name__}: {error}"
        if isinstance(content, bytes):
            added[entry.name] = content
        elif content is not None:
            reason = f"it must return bytes or None, but returned {type(content).__name__}"
        if reason:
            warn(f"section of plug-in '{entry.name}' is skipped: {reason}", stacklevel=4)
    return added
