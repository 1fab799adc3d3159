"""
A path as a Python function of its arguments, generated from what was traced.

    def make(cover, limits, W, M0):             once for each arena
        v3 = nd((1, 32), k2, W, 0)              what is the same in all calls
        def run(running, p0, p1):
            a0_0, a0_1, = a0.shape              sizes and guards; None if one does not hold
            s0 = a0_1
            if not (2 <= s0 < 2147483648): return None
            ...
            if s11 > limits[0] or 4096 > limits[1]: cover(0, 4096, s11)
            v4 = nd((s0, 32), k2, M0, s5)       views and kernels
            k5(v4, v3, v4)
            return r1, (s0,)                    the result, and the sizes that counters need
        return run

It has no text of the program: values have numbers, and names of the program are data.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from ..calls.lent_caches import buffer_rows
from ..calls.values import Captured, StaysInsideError, Tagged, copied, devices_of
from ..kernels.bind import Thunk, flattened
from ..machine.context import Context
from ..machine.paths import Decision
from ..memory.limits import SMALL_RESULT
from ..observe.counters import Counters, Sizes
from ..program.objects import Closure, Object, Tensor
from ..program.program import Cache, Function
from .places import Line, Place, Root
from .sizes import code_of, plain, value_of
from .thunk_code import closure
from .tracer import Traces, code_of_value, trace_path

_NAME = re.compile(r"\b[aeprsv]\d+(?:_\d+)?\b")
_PLACE = re.compile(r"<(\d+)\|([^|]*)\|([^>]*)>")

Run: TypeAlias = Callable[..., Any]
Counted: TypeAlias = "Callable[..., tuple[Sequence[int], ...]]"


@dataclass(eq=False)
class Template:
    """A path of function `index` for all sizes for which its guards hold."""

    index: int
    source: str
    make: Callable[..., Run]
    """Return the callable that runs in this memory, by device, and scratch memory."""
    length: int
    """The number of its instructions."""
    needs: tuple[int, ...]
    """The bytes by device, and of scratch memory, of the call that was traced."""
    opaque: Sequence[str]
    """The kernels that are bound in each call, and why."""
    _counts: Counters
    """The counts of a call; bytes by the numbers of `_counted`."""
    _counted: Counted
    again: Callable[[Context], Template]
    """Traces the path once more, for other observers."""
    jumps: int | None
    """The function whose call, with the result as arguments, replaces this one."""
    loops: bool
    """True if it runs calls that others replace."""
    devices: tuple[int, ...]
    """Those of the tensors in the result."""

    def counters(self, sizes: Sizes) -> Counters:
        """Return the counts of a call whose result came with these `sizes`."""
        allocated, copied_bytes, peak = self._counted(*sizes)
        counters, counts = Counters(), self._counts
        counters.instructions, counters.storages = counts.instructions, counts.storages
        counters.copies = counts.copies
        counters.storage_bytes = Counter(dict(zip(counts.storage_bytes, allocated, strict=True)))
        counters.copied = Counter(dict(zip(counts.copied, copied_bytes, strict=True)))
        counters.peak = {device: size for device, size in enumerate(peak) if size}
        return counters


def run_thunks(thunk: Thunk) -> None:
    """Run what a kernel that was just bound computes."""
    for part in flattened(thunk):
        part()


_ENVIRONMENT: Mapping[str, Any] = {
    "nd": np.ndarray,
    "arange": np.arange,
    "array": np.array,
    "broadcast_to": np.broadcast_to,
    "buffer_rows": buffer_rows,
    "closure": closure,
    "copied": copied,
    "empty": np.empty,
    "int64": np.dtype(np.int64),
    "partial": partial,
    "run_thunks": run_thunks,
    "Captured": Captured,
    "Tagged": Tagged,
}


def template_of(
    context: Context, index: int, args: Sequence[object], decisions: Sequence[Decision] = ()
) -> Template:
    """
    Return the template of the path that function `index` takes for `args`.

    `decisions` are those that depend on data. Raises `NoTemplate` if it has none.
    """
    traces, result = trace_path(context, index, args, decisions)
    args = [*map(_stand_in, args)]
    again = partial(template_of, index=index, args=args, decisions=decisions)
    return _Writer(traces, result, context.program.functions[index]).template(
        index, len(args), again
    )


def _stand_in(arg: Any) -> Any:
    """Return a value of the types of `arg`, without its elements."""
    if isinstance(arg, tuple):
        return tuple(map(_stand_in, arg))
    return np.broadcast_to(np.empty((), arg.dtype), arg.shape)


class _Writer:
    """Writes the function of what was traced."""

    def __init__(self, traces: Traces, result: Object, function: Function) -> None:
        self.function = function
        self.traces, self.trace, self.body = traces, traces.trace, traces.body
        self.leaving: dict[int, tuple[str, Place]] = {}
        """The storages, by number, that leave as arrays of their own, with their names."""
        self.kept: list[str] = []
        tensors = [item for item in _items(result) if isinstance(item, Tensor)]
        if not traces.breaks:
            self._find_leaving(tensors)
        self.devices = devices_of(result)
        sizes = [tensor.array.nbytes for tensor in tensors]
        self.charged = code_of(plain(sum(sizes)))
        if traces.jump is None and any(isinstance(item, Closure) for item in _items(result)):
            raise StaysInsideError(result)
        self.result = code_of_value(result, self._array)
        self.lent: dict[int, Cache] = {}
        """The caches of results that are storages, by the number of these."""
        for cache in traces.caches.values():
            base = tensors[cache.result].array.base
            if isinstance(base, Root) and base.number in self.leaving:
                self.lent[base.number] = cache

    def _find_leaving(self, tensors: Sequence[Tensor]) -> None:
        places: list[Place] = [t.array for t in tensors if isinstance(t.array, Place)]
        roots = Counter(place.base for place in places)
        for place in places:
            root = place.base
            if not isinstance(root, Root) or roots[root] > 1 or not place.is_laid_out:
                continue
            is_plain = place.dtype.isbuiltin == 1 and place.dtype.kind in "iuf"
            if is_plain and value_of(place.nbytes) == value_of(root.size) and place.start == 0:
                if place.nbytes == root.size:
                    self.leaving[root.number] = place.name(), place

    def _array(self, place: Any) -> str:
        """
        Return the expression for an array of the result, which shares no memory with the machine.

        Arguments of a call in place of this one may be arguments of this one, and constants.
        """
        jumps = self.traces.jump is not None
        if not isinstance(place, Place):
            code = self.trace.constant(place)
            return code if jumps else f"copied({code})"
        if isinstance(place.base, Root) and place.base.number in self.leaving:
            return f"r{place.base.number}"
        is_kept = jumps and not (isinstance(place.base, Root) or place.base == "W")
        copy = "copied" if place.dtype.kind == "b" else "array"
        return place.name() if is_kept else f"{copy}({place.name()})"

    def template(self, index: int, count: int, again: Callable[[Context], Template]) -> Template:
        traces, counters = self.traces, self.traces.counters
        lines = self._lines()
        groups = [[*counters.storage_bytes.values()], [*counters.copied.values()], traces.peak]
        counted = [", ".join(["", *map(code_of, group)])[2:] for group in groups]
        definitions = dict(pair for pair in self.trace.lines if pair[0])
        leaves, computed = _expanded(counted, definitions)
        covers = [self._cover(phase) for phase in range(len(traces.extents))]
        used = {name for line in lines for name in _NAME.findall(line.code)}
        used |= {name for text in (*covers, self.result, *leaves) for name in _NAME.findall(text)}
        for _, place in self.leaving.values():
            used |= {name for dim in place.shape for name in _NAME.findall(code_of(dim))}
        body = list(self._phases(lines, covers, self._needed(used)))
        peaks = "".join(f", {code}" for code in [f"M{d}" for d in range(len(traces.peak))])
        source = "\n".join(
            [
                f"def make(cover, limits, W{peaks}):",
                *(f"    {line}" for line in self.kept),
                f"    def run({', '.join(['running', *(f'p{n}' for n in range(count))])}):",
                *(f"        {line}" for line in body),
                f"        return {self.result}, ({''.join(f'{leaf}, ' for leaf in leaves)})",
                "    return run",
                f"def count({', '.join(leaves)}):",
                *(f"    {name} = {code}" for name, code in computed),
                f"    return {', '.join(f'({text},)' if text else '()' for text in counted)}",
            ]
        )
        names: dict[str, Any] = {**self.trace.environment, **_ENVIRONMENT}
        exec(compile(source, "<template>", "exec"), names)
        needs = tuple(max(map(value_of, sizes)) for sizes in zip(*traces.extents, strict=True))
        return Template(
            index,
            source,
            names["make"],
            traces.length,
            needs,
            traces.opaque,
            counters,
            names["count"],
            again,
            traces.jump,
            bool(traces.loops),
            self.devices,
        )

    def _lines(self) -> list[Line]:
        """Return the lines about memory, with the places of storages; equal views are one."""
        renamed = {name: f"r{number}" for number, (name, _) in self.leaving.items()}
        leaving = set(renamed)

        def current(code: str) -> str:
            return _NAME.sub(lambda name: renamed.get(name[0], name[0]), code)

        by_code: dict[str, str] = {}
        constant: set[str] = set()
        lines: list[Line] = []
        for line in self.body.lines:
            code = _PLACE.sub(self._place, current(line.code))
            if not line.name:
                lines.append(line._replace(code=code))
                continue
            if line.name in leaving:
                continue
            if line.name[0] == "v":
                if code in by_code:
                    renamed[line.name] = by_code[code]
                    continue
                by_code[code] = line.name
            if constant.issuperset(_NAME.findall(code)):
                constant.add(line.name)
                self.kept.append(f"{line.name} = {code}")
            else:
                lines.append(line._replace(code=f"{line.name} = {code}"))
        self.result = current(self.result)
        self.trace.lines[:] = [(name, current(code)) for name, code in self.trace.lines]
        return lines

    def _place(self, match: re.Match[str]) -> str:
        number, absolute, relative = int(match[1]), match[2], match[3]
        if number in self.leaving:
            return f"r{number}, {relative}"
        return f"M{self.traces.roots[number].device}, {absolute}"

    def _cover(self, phase: int) -> str:
        """Return the line that provides memory for results, scratch memory, and by device."""
        *memory, scratch = sizes = [code_of(plain(size)) for size in self.traces.extents[phase]]
        tests = [f"{size} > limits[{n}]" for n, size in enumerate(sizes) if size != "0"]
        results = self.charged if phase == len(self.traces.extents) - 1 else "0"
        if results != "0":
            tests.append(f"{results} > {SMALL_RESULT}")
        call = f"cover({', '.join([results, scratch, *memory])})"
        return f"if {' or '.join(tests)}: {call}" if tests else ""

    def _needed(self, used: set[str]) -> list[tuple[int, str, str]]:
        """Return the lines about sizes on which a guard or a name in `used` depends, by phase."""
        edges = [*self.traces.breaks, len(self.trace.lines)]
        needed: list[tuple[int, str, str]] = []
        for number in reversed(range(len(self.trace.lines))):
            name, code = self.trace.lines[number]
            if not name or "," in name or name in used:
                used.update(_NAME.findall(code))
                phase = next(p for p, edge in enumerate(edges) if number < edge)
                needed.append((phase, name, code))
        return needed[::-1]

    def _phases(
        self, lines: Sequence[Line], covers: Sequence[str], sizes: Sequence[tuple[int, str, str]]
    ) -> Iterator[str]:
        before = ""
        for phase, cover in enumerate(covers):
            yield from _statements([(name, code) for p, name, code in sizes if p == phase])
            if cover != before:
                yield cover
            before = cover
            if self.traces.context.memory.poison:
                yield f"w = {code_of(plain(self.traces.extents[phase][-1]))}"
            if phase == 0:
                for number, (_, place) in self.leaving.items():
                    if (cache := self.lent.get(number)) is not None:
                        known = map(self.trace.constant, (self.function, cache))
                        rows = code_of(place.shape[0])
                        where = f"{', '.join(known)}, p{cache.parameter}, {rows}"
                        yield f"r{number} = buffer_rows({where})"
                        continue
                    dtype = self.trace.constant(place.dtype)
                    shape = ", ".join(["", *map(code_of, place.shape)])[2:]
                    yield f"r{number} = empty(({shape}{',' * bool(shape)}), {dtype})"
            yield from (line.code for line in lines if line.phase == phase)


def _items(result: Object) -> Iterator[Any]:
    """Yield the objects in a result, depth first."""
    yield result
    for part in () if isinstance(result, Tensor) else result.parts:
        yield from _items(part)


def _expanded(
    texts: Sequence[str], definitions: dict[str, str]
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the sizes from which those in `texts` follow, and the lines that compute them."""
    needed = {name for text in texts for name in _NAME.findall(text)}
    leaves: list[str] = []
    lines: list[tuple[str, str]] = []
    for name, code in reversed(definitions.items()):
        if name not in needed:
            continue
        names = _NAME.findall(code)
        if not names or any(name[0] != "s" for name in names):
            leaves.append(name)
        else:
            needed.update(names)
            lines.append((name, code))
    return leaves[::-1], lines[::-1]


def _statements(lines: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Yield statements; guards that follow each other are one."""
    conditions: list[str] = []
    for name, code in (*lines, (" ", "")):
        if not name:
            conditions.append(code)
            continue
        if conditions:
            yield f"if not ({' and '.join(conditions)}): return None"
            conditions = []
        if code:
            yield f"{name} = {code}"
