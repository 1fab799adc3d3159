"""Compilation to machine code that this process loads: `xrelay.compile(target="native")`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...lowering.native.toolchain.target_machine import NATIVE
from ...runtime.native.native_executable import NativeExecutable, Pieces, library_in
from ..errors import UsageError
from ..pass_run.pipeline import TARGET, build_target
from ..targets.native_target import NativeTarget
from .loaded import lower
from .python_errors import compiling
from .session import Given, Session


def compile_natively(
    session: Session,
    given: Given,
    target: str,
    pipeline: str | None,
    title: str,
    threads: int | None = None,
) -> NativeExecutable:
    """
    Compile a program with its weights to machine code, and load it; `title` is that of pictures.

    Raises what passes raise.
    """
    native = target_of(session, target)
    session.runner.steps = session.steps(pipeline or "aot")
    loaded = lower(session.runner, session.context, given, reads_memory=True)
    session.runner.steps = []
    program = native.lowered(session.runner, session.context, given)
    file = Path(f"{program.library.name}.so")

    def written(path: Path) -> Pieces:
        with compiling(session.reporter):
            return program.file(path)

    (contents,) = program.file(file)
    return library_in(
        contents, file.name, threads=threads, written=written, pictures=loaded.pictures(title)
    )


def target_of(session: Session, text: str) -> NativeTarget:
    """Return the target `native` with the options in `text`, by default for this processor."""
    if text.partition("{")[0] != "native":
        raise UsageError(
            f"target must be 'machine' or 'native', but is '{text}'; xrelay.lower returns the text "
            "of others"
        )
    session.reporter.add_source(TARGET, text)
    _, found = build_target(text, session.universe.all_targets)
    if found.weights == "file":
        raise UsageError(
            "a program in memory has its weights with it; xrelay-opt -t native{weights=file} "
            "writes both files"
        )
    is_here = found.cpu is None and found.target is None
    return replace(found, cpu=NATIVE) if is_here else found
