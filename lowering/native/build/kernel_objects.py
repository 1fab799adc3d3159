"""
Compile kernels: many to a module, several modules at once, and none that was compiled before.

An object in the cache has several kernels, of which a program may need one; each kernel has an
entry, by its symbol, that names its object. The linker drops what is not used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

from ..schedules.scheduling import COMMON, SCHEDULED, Schedule, common_steps, library_of, text_of
from ..toolchain.module_text import module_text
from ..toolchain.processes import TimedOut
from ..toolchain.stage_files import scratch_folder, write
from ..toolchain.stages import KERNELS, Compiled, compile_text
from ..toolchain.tool_messages import ToolError
from .settings import Settings
from .units import Kernel

MODULE = 16
"""The number of kernels in a module: each tool takes about 30 ms to start."""

LIBRARY_FILE = "schedules.mlir"


class Job(NamedTuple):
    """A kernel to compile, and its schedule, which is None after the kernel's own failed."""

    kernel: Kernel
    schedule: Schedule | None


class Failure(NamedTuple):
    """A kernel whose schedule failed, and the reason."""

    kernel: Kernel
    reason: str
    is_permanent: bool
    """False if a retry may succeed: a tool reached its time limit."""


class Result(NamedTuple):
    """An object with some kernels, and those whose schedules failed."""

    compiled: Compiled
    jobs: Sequence[Job]
    unscheduled: Sequence[Failure] = ()


def compile_kernels(kernels: Sequence[Kernel], settings: Settings) -> list[Compiled]:
    """
    Return objects that hold `kernels`, each once or more, and maybe others.

    Raises `Error` at a kernel that does not compile.
    """
    distinct = {kernel.symbol: kernel for kernel in kernels}
    jobs = [Job(kernel, kernel.schedule) for kernel in distinct.values()]
    cached, missing = _read(jobs, settings)
    results = [result for group in _in_parallel(missing, settings) for result in group]
    for result in results:
        _write(result, settings)
        for failure in result.unscheduled:
            _report(failure.kernel, failure.reason, settings)
    return [*cached, *(result.compiled for result in results)]


def _report(kernel: Kernel, reason: str, settings: Settings) -> None:
    text = f"kernel '{kernel.name}' is compiled without its schedule: {reason}"
    settings.remark(kernel.function, text)


# ------------------------------------------------------------------------- the cache


def _read(jobs: Iterable[Job], settings: Settings) -> tuple[list[Compiled], list[Job]]:
    """Return what the cache has, and the jobs that are left."""
    objects: dict[str, Compiled] = {}
    missing: list[Job] = []
    for job in jobs:
        entry = settings.cache.get(job.kernel.symbol)
        if entry is None:
            missing.append(job)
            continue
        known = cast("dict[str, Any]", json.loads(entry))
        digest = cast(str, known["object"])
        if digest not in objects:
            code = settings.cache.get(digest)
            if code is None:
                missing.append(job)
                continue
            objects[digest] = Compiled(code, {})
        objects[digest].scratch[job.kernel.symbol] = known["scratch"]
        if "failed" in known:
            _report(job.kernel, known["failed"], settings)
    return list(objects.values()), missing


def _write(result: Result, settings: Settings) -> None:
    code = result.compiled.code
    digest = sha256(code).hexdigest()
    failed = {failure.kernel.symbol: failure for failure in result.unscheduled}
    settings.cache.put(digest, code)
    for job in result.jobs:
        symbol = job.kernel.symbol
        known: dict[str, Any] = {
            "object": digest,
            "scratch": result.compiled.scratch.get(symbol, 0),
        }
        failure = failed.get(symbol)
        if failure is not None:
            known["failed"] = failure.reason
        if failure is None or failure.is_permanent:
            settings.cache.put(symbol, json.dumps(known).encode())


# ------------------------------------------------------------------------- the modules


def _in_parallel(jobs: Sequence[Job], settings: Settings) -> list[list[Result]]:
    """Compile `jobs` in modules, as many at once as there are processors."""
    if not jobs:
        return []
    workers = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 2
    groups: dict[tuple[bool, bool], list[Job]] = {}
    for job in jobs:
        # Apart: an object that calls a library cannot be linked without it, and the passes for
        # schedules rewrite all kernels of a module.
        group = bool(job.kernel.declarations), job.schedule is not None
        groups.setdefault(group, []).append(job)
    modules = [
        module
        for group in groups.values()
        for module in _modules(group, -(-workers * len(group) // len(jobs)))
    ]
    with ThreadPoolExecutor(workers) as pool:
        started = [
            pool.submit(_compile, module, f"kernels_{number}", settings)
            for number, module in enumerate(modules)
        ]
        try:
            return [future.result() for future in started]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _modules(jobs: Sequence[Job], workers: int) -> list[Sequence[Job]]:
    count = max(-(-len(jobs) // MODULE), min(workers, len(jobs)))
    return [jobs[start::count] for start in range(count)]  # neighbours are alike


def _compile(jobs: Sequence[Job], name: str, settings: Settings) -> list[Result]:
    """Compile a module of kernels; one that fails is divided until it is clear which kernel."""
    try:
        return [Result(_compiled(jobs, name, settings), jobs)]
    except ToolError as error:
        if len(jobs) > 1:
            half = len(jobs) // 2
            first = _compile(jobs[:half], f"{name}_0", settings)
            return first + _compile(jobs[half:], f"{name}_1", settings)
        (job,) = jobs
        if job.schedule is None:
            raise error.at(job.kernel.function, f"kernel '{job.kernel.name}'") from None
        plain = _compile([job._replace(schedule=None)], f"{name}_unscheduled", settings)
        is_permanent = not isinstance(error.__cause__, TimedOut)
        return [Result(plain[0].compiled, jobs, [Failure(job.kernel, error.message, is_permanent)])]


def _compiled(jobs: Sequence[Job], name: str, settings: Settings) -> Compiled:
    kernels = [job.kernel for job in jobs]
    schedules = {job.kernel.symbol: job.schedule for job in jobs if job.schedule is not None}
    text = kernels_text(kernels)
    with scratch_folder("schedules") as folder:
        return compile_text(text, _passes(schedules, folder, name, settings), settings, name)


def _passes(
    schedules: Mapping[str, Schedule], folder: Path, name: str, settings: Settings
) -> Sequence[str]:
    """Return the passes for kernels with `schedules`, which are written into `folder`."""
    if not schedules:
        return KERNELS
    files = {f"{name}.{LIBRARY_FILE}": text_of(library_of(schedules)), COMMON.name: common_steps()}
    for file, text in files.items():
        settings.saved.save(file, text)
        write(folder / file, text)
    paths = ",".join(str(folder / file) for file in files)
    return f"transform-preload-library{{transform-library-paths={paths}}}", *SCHEDULED


def kernels_text(kernels: Sequence[Kernel]) -> str:
    """Return the text of a module with `kernels`, and the constants that they read."""
    constants = {op.sym_name.data: module_text(op) for k in kernels for op in k.globals}
    called = {op.sym_name.data: module_text(op) for k in kernels for op in k.declarations}
    functions = [f"// @{kernel.name}\n{kernel.text}" for kernel in kernels]
    return f"module {{\n{''.join((*constants.values(), *called.values(), *functions))}}}\n"
