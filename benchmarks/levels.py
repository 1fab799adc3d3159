"""
Measure the code of each level in one library: `from levels import by_level, cells`.

    calls = by_level(library, "levels", lambda path: xrelay.load(str(path), threads=1))

    {"v1": …, "v3": …, "v4": …}
"""

import os
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, cast

T = TypeVar("T")

LEVELS = (1, 3, 4)
"""Those of x86-64 that `cpu=levels` has code for."""


def by_level(library: Path, cpu: str, load: Callable[[Path], T]) -> dict[str, T]:
    """Load a copy of `library` for each level, which its constructor chooses; else the library."""
    if cpu != "levels":
        return {"native": load(library)}
    loaded: dict[str, T] = {}
    try:
        for level in LEVELS:
            os.environ["XRELAY_CPU_LEVEL"] = str(level)
            copy = library.with_name(f"{library.stem}_v{level}.so")
            loaded[f"v{level}"] = load(Path(shutil.copyfile(library, copy)))
    finally:
        del os.environ["XRELAY_CPU_LEVEL"]
    return loaded


def cells(names: Iterable[str], times: Iterable[float], theirs: float) -> dict[str, Any]:
    """Return the cells of a row: the ms of each of `names`, onnxruntime's, and the ratios."""
    ours = dict(zip(names, times, strict=True))
    return {
        **{f"{name}, ms": round(ms, 4) for name, ms in ours.items()},
        "onnxruntime, ms": round(theirs, 4),
        **{f"{name}, ratio": round(ms / theirs, 2) for name, ms in ours.items()},
    }


def as_list(result: Any) -> list[Any]:
    """Return the results of a call."""
    return [*cast("tuple[Any, ...]", result)] if isinstance(result, tuple) else [result]
