"""Compile the kernels of a program for the processor here: `--kernels=native`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...passes.support.diagnostics import ReportingContext, emit_remark
from .compiler import Loaded

if TYPE_CHECKING:
    from ...runtime.native.compiled_kernels import NativeLibrary


def native_kernels(loaded: Loaded, context: ReportingContext) -> NativeLibrary | None:
    """Return the compiled kernels of a program, if its kernels were kept. Raises `Error`."""
    if loaded.kernels is None:
        return None
    from ...lowering.native.build.cache import Cache
    from ...lowering.native.build.machine_kernels import machine_kernels
    from ...lowering.native.build.settings import Settings
    from ...lowering.native.toolchain.target_machine import Machine

    context.remarks = True
    settings = Settings(
        machine=Machine(cpu="native"),
        cache=Cache.of_user(),
        remark=lambda op, message: emit_remark(context, op, message),
    )
    return machine_kernels(context, loaded.kernels, settings)
