"""A program as the text of a target, without files: `xrelay.lower`."""

from __future__ import annotations

from io import StringIO
from pathlib import Path

from ..errors import UsageError
from ..pass_run.pipeline import TARGET, build_target
from ..targets.file_target import ChosenTarget, Job
from ..text.printing import PrintOptions, print_module
from .session import Given, Session


def text_of(session: Session, program: Given, target: str, pipeline: str | None) -> str:
    """
    Run `pipeline` on a program, and return it as `xrelay-opt -t` writes it for `target`.

    The pipeline is by default the target's own, or `vm` for what shows memory. Raises what passes
    raise.
    """
    session.reporter.add_source(TARGET, target)
    chosen = ChosenTarget(*build_target(target, session.universe.all_targets))
    files, options = chosen.files, PrintOptions()
    runner, context, module = session.runner, session.context, program.module
    runner.steps = session.steps(pipeline or chosen.pipeline)
    if chosen.reads_before is not None:
        runner.steps = chosen.shown(runner.steps)
    output = StringIO()
    if files is not None:
        written = files.written(Job(runner, context, program, Path(), Path(), options))
        if not written.is_text:
            raise UsageError(
                f"the target '{target}' is not text: save what xrelay.compile returns, or write it "
                "with xrelay-opt -t"
            )
        output.writelines(str(piece, "utf-8") for piece in written.contents)
        return output.getvalue()
    runner.run(context, module)
    if chosen.is_default:
        print_module(context, module, output, options)
    else:
        chosen.emit(context, module, output, ())
    return output.getvalue()
