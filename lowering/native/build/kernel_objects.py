"""
Compile kernels: many to a module, several modules at once, and none that was compiled before.

An object in the cache has several kernels, of which a program may need one; each kernel has an
entry, by its symbol, that names its object. The linker drops what is not used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

from xdsl.dialects.builtin import ModuleOp

from ..schedules.scheduling import COMMON, SCHEDULED, common_steps, library_of, text_of
from ..toolchain.processes import ProcessFailed, TimedOut
from ..toolchain.stage_files import scratch_folder, write
from ..toolchain.stages import KERNELS, compile_text, module_text
from .settings import Settings
from .units import Kernel

MODULE = 16
"""The number of kernels in a module: each tool takes about 30 ms to start."""

LIBRARY_FILE = "schedules.mlir"


class Result(NamedTuple):
    """An object with some kernels; if the schedule of the only one failed, why."""

    code: bytes
    kernels: Sequence[Kernel]
    failure: ProcessFailed | None = None


def compile_kernels(kernels: Sequence[Kernel], settings: Settings) -> list[bytes]:
    """
    Return objects that hold `kernels`, each once or more, and maybe others.

    Raises `Error` at a kernel that does not compile.
    """
    distinct = {kernel.symbol: kernel for kernel in kernels}
    cached, missing = _read(distinct.values(), settings)
    results = _in_parallel(missing, settings)
    for result in results:
        _write(result, settings)
    return [*cached, *(result.code for result in results)]


def _report(kernel: Kernel, reason: str, settings: Settings) -> None:
    text = f"kernel '{kernel.name}' is compiled without its schedule: {reason}"
    settings.remark(kernel.function, text)


# ------------------------------------------------------------------------- the cache


def _read(kernels: Iterable[Kernel], settings: Settings) -> tuple[list[bytes], list[Kernel]]:
    """Return what the cache has, and the kernels that are left."""
    objects: dict[str, bytes] = {}
    missing: list[Kernel] = []
    for kernel in kernels:
        entry = settings.cache.get(kernel.symbol)
        known = cast("dict[str, Any]", json.loads(entry or b'{"object": ""}'))
        digest = cast(str, known["object"])
        if digest not in objects:
            code = settings.cache.get(digest) if digest else None
            if code is None:
                missing.append(kernel)
                continue
            objects[digest] = code
        if "failed" in known:
            _report(kernel, known["failed"], settings)
    return list(objects.values()), missing


def _write(result: Result, settings: Settings) -> None:
    code, failure = result.code, result.failure
    known: dict[str, Any] = {"object": sha256(code).hexdigest()}
    if failure is not None:
        known["failed"] = failure.message
        _report(result.kernels[0], failure.message, settings)
        if isinstance(failure, TimedOut):  # a retry may succeed
            return
    settings.cache.put(known["object"], code)
    for kernel in result.kernels:
        settings.cache.put(kernel.symbol, json.dumps(known).encode())


# ------------------------------------------------------------------------- the modules


def _in_parallel(kernels: Sequence[Kernel], settings: Settings) -> list[Result]:
    """Compile `kernels` in modules, as many at once as there are processors."""
    if not kernels:
        return []
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    groups: dict[tuple[object, ...], list[Kernel]] = {}
    for kernel in kernels:
        # Apart: an object that calls a library cannot be linked without it; passes for schedules,
        # and options, are for all kernels of a module; and code is for one processor.
        group = kernel.calls_library, kernel.schedule is not None, kernel.machine, kernel.tuning
        groups.setdefault(group, []).append(kernel)
    modules: list[Sequence[Kernel]] = []
    for group in groups.values():
        share = -(-workers * len(group) // len(kernels))
        count = max(-(-len(group) // MODULE), min(share, len(group)))
        modules += [group[start::count] for start in range(count)]  # neighbours are alike
    with ThreadPoolExecutor(workers) as pool:
        started = {
            pool.submit(_compile, module, f"kernels_{number}", settings): len(module)
            for number, module in enumerate(modules)
        }
        try:
            done = 0
            settings.progress(done, len(kernels))
            for future in as_completed(started):
                if future.exception() is not None:
                    break
                done += started[future]
                settings.progress(done, len(kernels))
            return [result for future in started for result in future.result()]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _compile(kernels: Sequence[Kernel], name: str, settings: Settings) -> list[Result]:
    """Compile a module of kernels; one that fails is divided until it is clear which kernel."""
    settings = replace(settings, machine=kernels[0].machine)
    try:
        with scratch_folder("schedules") as folder:
            passes = _passes(kernels, folder, name, settings)
            text = text_of_all(kernels)
            code = compile_text(text, passes, settings, name, kernels[0].tuning)
            return [Result(code, kernels)]
    except ProcessFailed as error:
        if len(kernels) > 1:
            half = len(kernels) // 2
            first = _compile(kernels[:half], f"{name}_0", settings)
            return first + _compile(kernels[half:], f"{name}_1", settings)
        (kernel,) = kernels
        if kernel.schedule is None:
            raise error.at(kernel.function, f"kernel '{kernel.name}'") from None
        plain = _compile([replace(kernel, schedule=None)], f"{name}_unscheduled", settings)
        return [Result(plain[0].code, kernels, error)]


def _passes(
    kernels: Sequence[Kernel], folder: Path, name: str, settings: Settings
) -> Sequence[str]:
    """Return the passes for kernels with their schedules, which are written into `folder`."""
    schedules = {k.symbol: k.schedule for k in kernels if k.schedule is not None}
    if not schedules:
        return KERNELS
    files = {f"{name}.{LIBRARY_FILE}": text_of(library_of(schedules)), COMMON.name: common_steps()}
    for file, text in files.items():
        settings.saved.save(file, text)
        write(folder / file, text)
    paths = ",".join(str(folder / file) for file in files)
    return f"transform-preload-library{{transform-library-paths={paths}}}", *SCHEDULED


def text_of_all(kernels: Sequence[Kernel]) -> str:
    """Return the text of a module with `kernels`, and what they refer to, each once."""
    used = {op.sym_name.data: op for k in kernels for op in k.used}
    functions = [kernel.function for kernel in kernels]
    text = module_text(ModuleOp([*(op.clone() for op in used.values()), *functions]))
    for function in functions:
        function.detach()
    return text
