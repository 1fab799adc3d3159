"""
Settings of a compilation: the machine, the tools, and the cache, a folder of results.

    cache = Cache.of_user()                 the user's, where the system has caches
    code = cache.get(key) or compiled()
    cache.put(key, code)

Results are found by a hash of all that they depend on. Any number of processes may use a cache at
once: an entry is written whole, under a name of its own
first. Each holds a hash of its bytes; a damaged one counts as missing. An entry that cannot be
written is not there next time, and nothing else happens.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import platformdirs
from xdsl.ir import Operation

from ....runtime.errors import Error, reason_of
from ....runtime.files import replace
from ..toolchain.processes import SECONDS
from ..toolchain.stage_files import UNSAVED, SavedStages
from ..toolchain.target_machine import Machine
from ..toolchain.tool_paths import Blas

LEVEL = 3
"""The level of LLVM's optimizations, from 0 to 3; tests set it, as most of them time nothing."""

LIMIT = 1 << 30
"""Bytes that the entries may take; the ones that were not used for longest are removed first."""

KEEP = 0.75
"""The part of `LIMIT` that is left when entries are removed."""

MAGIC = b"xrelay-cache-2\n"
DIGEST = sha256().digest_size


def key_of(*parts: str | bytes) -> str:
    """Return the key for results that depend on `parts`."""
    digest = sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.hexdigest()


@dataclass(frozen=True)
class Cache:
    """A folder of results. None is a cache that keeps nothing."""

    folder: Path | None
    limit: int = LIMIT

    @staticmethod
    def of_user() -> Cache:
        """Return the cache of this user, for all programs."""
        return Cache(platformdirs.user_cache_path("xrelay", appauthor=False) / "native")

    @staticmethod
    def named(option: str) -> Cache:
        """Return the cache that an option names: `on`, `off`, or a folder."""
        if option == "off":
            return OFF
        return Cache.of_user() if option == "on" else Cache(Path(option))

    def prepare(self) -> None:
        """
        Make the folder, and check that only this user can write into it: its code is run.

        Raises `Error`.
        """
        if self.folder is None:
            return
        cure = "choose another with cache=FOLDER, or none with cache=off"
        try:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            status = self.folder.stat()
        except OSError as error:
            reason = reason_of(error)
            raise Error(f"cannot use the cache '{self.folder}': {reason}; {cure}") from None
        shared = stat.S_IMODE(status.st_mode) & (stat.S_IWGRP | stat.S_IWOTH)
        if status.st_uid != os.geteuid() or shared:
            raise Error(f"the cache '{self.folder}' can be written by other users; {cure}")

    def get(self, key: str) -> bytes | None:
        """Return the entry `key`, if there is one and it is whole."""
        if self.folder is None:
            return None
        path = self.folder / key
        try:
            data = path.read_bytes()
            with contextlib.suppress(OSError):
                os.utime(path)
        except OSError:
            return None
        start = len(MAGIC) + DIGEST
        contents = data[start:]
        if data[:start] != MAGIC + sha256(contents).digest():
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        return contents

    def put(self, key: str, contents: bytes) -> None:
        """Write the entry `key`, if that can be done."""
        if self.folder is not None:
            with contextlib.suppress(Error):
                pieces = [MAGIC, sha256(contents).digest(), contents]
                replace(self.folder / key, pieces, overwrite=True)

    def get_or(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return the entry `key`; what `make` returns is kept if there is none."""
        contents = self.get(key)
        if contents is None:
            contents = make()
            self.put(key, contents)
        return contents

    def trim(self) -> None:
        """Remove the entries that were not used for longest if all take more than the limit."""
        entries = sorted(self._entries())
        total = sum(size for _, size, _ in entries)
        if total <= self.limit:
            return
        for _, size, path in entries:
            if total <= self.limit * KEEP:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size

    def _entries(self) -> Iterator[tuple[float, int, str]]:
        """Yield the time of the last use, the size and the path of each entry."""
        if self.folder is None:
            return
        with contextlib.suppress(OSError), os.scandir(self.folder) as entries:
            for entry in entries:
                with contextlib.suppress(OSError):
                    status = entry.stat(follow_symlinks=False)
                    yield status.st_mtime, status.st_size, entry.path


OFF = Cache(None)
"""Keeps nothing."""


def _unheard(op: Operation, message: str) -> None:
    """Ignore a remark."""


def _nothing_shown(done: int, total: int) -> None:
    """Show no progress."""


@dataclass(frozen=True)
class Settings:
    """All that decides how a module is compiled, but for the module."""

    machine: Machine = field(default_factory=Machine)
    cache: Cache = OFF
    saved: SavedStages = UNSAVED
    seconds: float = SECONDS
    """The time limit of each call of a tool."""
    level: int = field(default_factory=lambda: LEVEL)
    """The level of LLVM's optimizations."""
    remark: Callable[[Operation, str], None] = _unheard
    """Reports a choice, at the op that it is about."""
    progress: Callable[[int, int], None] = _nothing_shown
    """Shows how many kernels LLVM has compiled, of how many."""
    blas: Blas | None = None
    """The library for products, if there is one."""
    threads: bool = False
    """True if loops that the schedules divide are computed by several threads."""
    compiler: str | None = None
    """The command of the C compiler, if it is not the system's."""
