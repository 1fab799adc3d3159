"""
Trace a path: the recorder follows its instructions with sizes that are not numbers but `Traced`.

    shape_of, compute, require    lines that compute sizes, and guards
    alloc_storage                 its place, by the same `Space` as in a recorded path
    invoke_packed                 planned by `plan_kernel` and bound by `bind_plan`, to places
    if, and sizes from data       read when the template runs: a guard, or a size of the call

The path was recorded for the arguments that are given, and took the `decisions` that are given.
What a template does for other sizes is what recording would do, as long as its guards hold.
"""

# pyright: reportUnknownVariableType=false, reportUnknownArgumentType=false
# pyright: reportUnknownMemberType=false, reportUnknownLambdaType=false

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod
from typing import Any, cast

import numpy as np

from ...operators.measures import MEASURES
from ...operators.signature import Call as RuleCall
from ...operators.signature import Data as RuleData
from ...operators.signature import Elements, check
from ...operators.sizes import Size, maximum
from ...operators.sizes.size_table import OPERATIONS, PREDICATES
from ..calls.addresses import address
from ..calls.argument_types import check_types
from ..calls.value_checks import check_arguments
from ..calls.values import StaysInsideError, built, devices_of, object_of, stand_in
from ..kernels.bind import Attrs, Bind, Thunk
from ..kernels.checked import ArrayElements, SizeChecked, tensor_of
from ..machine.binding import Bound, overlaps_of
from ..machine.context import Context
from ..machine.execution import resume
from ..machine.kernel_plan import KernelPlan, plan_kernel
from ..machine.paths import (
    Branch,
    Call,
    Contents,
    Decision,
    Frame,
    Read,
    Return,
    State,
    TailCall,
    TraceSize,
)
from ..machine.recording import Recorder
from ..memory.limits import POISON
from ..memory.packing import Layout, Plans
from ..memory.scratch import Workspace
from ..memory.spaces import Space
from ..observe.counters import Counters
from ..program.dtypes import element_type
from ..program.objects import Closure, Data, Object, Storage, Tensor
from ..program.program import Array, Cache, Kernel, Step, TensorSpec, spec_of
from ..program.size_operations import Scalar
from .places import Body, Flags, Place, Root, Sizes, shape_code
from .sizes import SIGNS, NoTemplate, Number, Trace, Traced, code_of, plain, value_of
from .thunk_code import Lines, lines_of

MAX_INSTRUCTIONS = 1 << 14
"""Length of a path that is worth a template."""
MAX_READ = 64
"""Limit on the elements of a tensor that are read as sizes."""
_OPERATIONS = {
    OPERATIONS[name].arith.removeprefix("arith."): sign
    for name, sign in SIGNS.items()
    if OPERATIONS[name].arith
}
_RELATIONS = dict(zip(PREDICATES, ("==", "!=", "<", "<=", ">", ">="), strict=True))


class SizeElements(Elements):
    """The elements of an operand that are sizes of the call."""

    def __init__(self, elements: Sequence[Number]) -> None:
        self.elements = elements

    def sizes(self, count: int) -> Sequence[Size]:
        return list(self.elements)

    def measure(self, name: str, args: Sequence[RuleData | Size]) -> Size:
        numbers: list[Any] = []
        for arg in args:
            if not isinstance(arg, RuleData):
                numbers.append(plain(arg))
                continue
            elements = arg.elements
            if not isinstance(elements, SizeElements) or arg.rank:
                raise NoTemplate("a measure of elements")
            numbers += map(plain, elements.elements)
        reader = next((number for number in numbers if isinstance(number, Traced)), None)
        return MEASURES[name](*numbers) if reader is None else reader.measure(name, numbers)


def elements_of(array: Any) -> Elements | None:
    """Return the elements of a place or an array, if they are known."""
    if isinstance(array, Place):
        return None if array.elements is None else SizeElements(array.elements)
    if array.dtype.kind in "iu" and array.size <= MAX_READ:
        return SizeElements(array.reshape(-1).tolist())
    return ArrayElements(array)


class Extent:
    """Counts the bytes that are needed, of a device's memory or of scratch memory."""

    def __init__(self, view: Callable[[Number, Number], Place]) -> None:
        self.top: Any = 0
        self.view = view

    def cover(self, size: Any, what: str) -> None:
        self.top = maximum(self.top, size)


class Scratch(Workspace):
    """Scratch memory whose bytes are places."""

    def __init__(self, body: Body) -> None:
        extent: Any = Extent(lambda start, size: Place(body, "W", start, np.uint8, (size,)))
        self.extent = extent
        self.used = 0

    def poison(self) -> None:
        raise AssertionError("its lines are used")


@dataclass(eq=False)
class Traces:
    """The facts about a path that is traced, so far."""

    context: Context
    index: int
    """The number of its function."""
    trace: Trace = field(default_factory=Trace)
    roots: list[Root] = field(default_factory=list[Root])
    written: dict[Root, list[tuple[Any, Any]]] = field(
        default_factory=dict[Root, "list[tuple[Any, Any]]"]
    )
    """The bytes of storages that were written."""
    counters: Counters = field(default_factory=Counters)
    peak: list[Any] = field(default_factory=list[Any])
    opaque: list[str] = field(default_factory=list[str])
    """The kernels that are bound in each call, and why."""
    breaks: list[int] = field(default_factory=list[int])
    """The numbers of lines about sizes at which a phase begins, except for the first."""
    extents: list[list[Any]] = field(default_factory=list[list[Any]])
    """The bytes that each phase needs, by device, and of scratch memory."""
    length: int = 0
    arguments: int = 0
    """The number of arrays that are arguments, or results of loops."""
    loops: int = 0
    """The number of loops of tail calls that are run before the path continues."""
    jump: int | None = None
    """The function whose call, at the end, replaces this one."""
    caches: dict[object, Cache] = field(default_factory=dict[object, "Cache"])
    """By the names of their arguments."""

    def __post_init__(self) -> None:
        self.body = Body(self.trace)
        self.scratch = Scratch(self.body)
        devices = len(self.context.program.devices)
        self.spaces = tuple(Space(self._extent(device)) for device in range(devices))
        self.peak = [0] * devices

    def _extent(self, device: int) -> Any:
        def view(at: Number, size: Number) -> Place:
            self.roots.append(Root(len(self.roots), device, at, size))
            return Place(self.body, self.roots[-1], 0, np.uint8, (size,))

        return Extent(view)

    @property
    def needs(self) -> list[Any]:
        """The bytes that are needed so far, by device, and of scratch memory."""
        return [*(space.extent.top for space in self.spaces), self.scratch.extent.top]

    def begin_phase(self) -> None:
        """Begin lines that may depend on what memory holds now."""
        self.breaks.append(len(self.trace.lines))
        self.extents.append(self.needs)
        self.body.phase += 1

    def finish(self) -> None:
        """Note what the last phase needs."""
        self.extents.append(self.needs)


@dataclass(eq=False)
class Tracer(Recorder):
    """Records a part of a path as lines."""

    traces: Any = None

    @property
    def trace(self) -> Trace:
        return self.traces.trace

    @property
    def body(self) -> Body:
        return self.traces.body

    # Memory

    def array_at(
        self, storage: Storage, start: Any, shape: tuple[Any, ...], dtype: np.dtype[Any]
    ) -> Any:
        memory: Any = storage.memory
        return Place(self.body, memory.base, start, dtype, shape)

    def mark_unwritten(self, storage: Storage) -> None:
        """Reads are checked against what was written."""

    def check_written(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            place: Any = tensor.array
            if not isinstance(place, Place) or not isinstance(place.base, Root):
                continue
            start, stop = place.start, place.start + place.nbytes
            if not any(self._is_within(start, stop, bytes) for bytes in self._written(place.base)):
                raise NoTemplate("bytes that were not written by one instruction")

    def _written(self, root: Root) -> list[tuple[Any, Any]]:
        return self.traces.written.setdefault(root, [])

    def _is_within(self, start: Any, stop: Any, bytes: tuple[Any, Any]) -> bool:
        first, last = bytes
        if value_of(start) < value_of(first) or value_of(stop) > value_of(last):
            return False
        return start >= first and stop <= last

    def mark_written(self, tensors: Sequence[Tensor]) -> None:
        for tensor in tensors:
            place: Any = tensor.array
            if isinstance(place, Place) and isinstance(place.base, Root):
                self._written(place.base).insert(0, (place.start, place.start + place.nbytes))

    def mark_joined(self, parts: Sequence[Tensor], joined: Tensor) -> None:
        self.check_written(parts)
        self.mark_written([joined])

    def copy_of(self, source: Any, target: Any) -> Thunk:
        if isinstance(source, Place) and source.base in self.traces.caches:
            return partial(copy_apart, target, cast(Any, source))
        return super().copy_of(cast(Any, source), target)

    def hand_over(self, *roots: Object) -> None:
        rest = list(roots)
        while rest:
            item = rest.pop()
            if isinstance(item, Tensor):
                self.require_written(item)
            elif isinstance(item, Storage):
                raise NoTemplate("a storage that is handed over")
            else:
                rest += item.parts

    # Sizes

    def size_tensor(self, sizes: Any) -> Tensor:
        is_vector = isinstance(sizes, tuple)
        listed = tuple(map(plain, sizes if is_vector else (sizes,)))
        if not any(isinstance(size, Traced) for size in listed):
            return super().size_tensor(listed if is_vector else listed[0])
        shape = (len(listed),) if is_vector else ()
        made: Any = Sizes(self.body, listed, shape)
        return Tensor(made, 0, constant=True)

    def evaluate(self, scalar: Scalar, args: Sequence[Any]) -> Any:
        if not any(isinstance(arg, Place) for arg in args):
            return super().evaluate(scalar, args)
        scalar.result(scalar, args)
        name = scalar.name
        if name == "from_elements":
            return self.size_tensor(tuple(arg.item() for arg in args)).array
        if name == "extract":
            source, *at = args
            if len(at) > 1:
                raise NoTemplate("an element of a matrix")
            sizes = source.tolist()
            index = at[0].item().__index__() if at else 0
            if not 0 <= index < len(sizes):
                raise NoTemplate("an index out of range")
            return self.size_tensor(sizes[index]).array
        if any(arg.ndim for arg in args):
            raise NoTemplate("an operation on vectors")
        numbers = [arg.item() for arg in args]
        if name in _OPERATIONS:
            result: Any = self.trace.checked(self.trace.binary(_OPERATIONS[name], *numbers))
        elif (predicate := name.removeprefix("cmpi_s").removeprefix("cmpi_")) in _RELATIONS:
            result = int(self.trace.compare(_RELATIONS[predicate], *numbers))
        elif name == "select":
            result = numbers[1] if numbers[0] != 0 else numbers[2]
        else:
            result = self.trace.call(scalar.function, numbers)
        return self.size_tensor(result).array

    def computed_size(self, spec: TensorSpec) -> Any:
        name = self.body.define(
            "e", f"empty({spec.dims}, {self.trace.constant(element_type(spec.dtype))})"
        )
        return Place(self.body, name, 0, spec.dtype, spec.dims)

    def plan_slices(self, pack: Any, sizes: tuple[Any, ...]) -> Layout:
        sizes = tuple(map(plain, sizes))
        total, offsets = super().plan_slices(pack, tuple(map(value_of, sizes)))
        if not any(isinstance(size, Traced) for size in sizes):
            return total, offsets
        planned = self.trace.constant(partial(_planned, self.context.plans, pack))
        planned_sizes: Any = self.trace.unpacked(f"{planned}{shape_code(sizes)}", (total, *offsets))
        return planned_sizes[0], tuple(planned_sizes[1:])

    # Kernels

    def plan_kernel(
        self, kernel: Kernel, ins: Sequence[Any], outs: Sequence[Any], known: Mapping[int, Any]
    ) -> KernelPlan:
        contents = {n: elements for n, array in known.items() if (elements := elements_of(array))}
        specs = [spec_of(array) for array in ins], [spec_of(array) for array in outs]
        overlaps = overlaps_of(ins, outs)
        return plan_kernel(kernel, *specs, overlaps, self.context.binds, contents)

    def bind_plan(self, plan: KernelPlan, *operands: Any) -> Bound:
        bind: Any = self._lines
        steps = tuple(step._replace(bind=partial(bind, step.bind)) for step in plan.steps)
        return super().bind_plan(replace(plan, steps=steps), *operands[:-1])

    def leave(self, thunk: Thunk, step: Step | None = None) -> None:
        if thunk == self.traces.scratch.poison:
            self.body.add(f"W[:w].fill({POISON})")
            return
        for line in lines_of(self.body, thunk):
            self.body.add(line)

    def _lines(self, bind: Bind, attrs: Attrs, ins: Sequence[Any], outs: Sequence[Any]) -> Thunk:
        """Bind a kernel to places, and return lines."""
        before = self.trace.saved(), self.body.saved()
        scratch: Any = self.traces.scratch
        top, used = scratch.extent.top, scratch.used
        fixed = self.trace.fixed
        try:
            thunk = self._unchecked(bind, attrs, ins, outs)(attrs, ins, outs)
            lines = lines_of(self.body, thunk)
            if self.trace.fixed == fixed:
                return Lines(lines)
            why = "it depends on a size as a number"
        except (NoTemplate, TypeError, ValueError, AttributeError) as error:
            why = f"{type(error).__name__}: {error}"
        # It is bound to arrays whenever the template runs.
        self.trace.restore(before[0])
        self.body.restore(before[1])
        scratch.extent.top, scratch.used = top, used
        kernel = getattr(bind, "name", getattr(bind, "__name__", "a kernel"))
        self.traces.opaque.append(f"{kernel}: {why}")
        name, given = self.trace.constant(bind), self.trace.constant(attrs)
        arrays = [
            "".join(
                f"{a.name() if isinstance(a, Place) else self.trace.constant(a)}, " for a in some
            )
            for some in (ins, outs)
        ]
        return Lines([f"run_thunks({name}({given}, ({arrays[0]}), ({arrays[1]})))"])

    def _unchecked(self, bind: Bind, attrs: Attrs, ins: Sequence[Any], outs: Sequence[Any]) -> Bind:
        """Check the sizes that `bind` would check in each run, if they are sizes of the call."""
        if not isinstance(bind, SizeChecked):
            return bind
        elements: dict[int, Elements] = {}
        for i in bind.rule.data_operands:
            known = elements_of(ins[i])
            if known is None:
                return bind
            elements[i] = known
        operands = [tensor_of(spec_of(array)) for array in ins]
        results = [tensor_of(spec_of(array)) for array in outs]
        check(bind.rule, RuleCall(bind.name, attrs, operands, elements), results)
        return bind.bind


def copy_apart(target: Array, source: Array) -> None:
    """Copy `source`, unless it is where `target` is."""
    if address(target) != address(source):
        np.copyto(target, source)


def _planned(plans: Plans, pack: Any, *sizes: int) -> tuple[int, ...]:
    total, offsets = plans.of(pack, sizes)
    return total, *offsets


def trace_path(
    context: Context, index: int, args: Sequence[object], decisions: Sequence[Decision]
) -> tuple[Traces, Object]:
    """
    Trace the path that function `index` takes for `args`, and return its result.

    That is data of its arguments if another call, `traces.jump`, runs in its place. Raises
    `NoTemplate` if it has no template, or what the recorder raises.
    """
    if context.has_references:
        raise NoTemplate("references")
    traces = Traces(context, index)
    objects = _parameters(traces, index, args)
    if not context.memory.poison and not any(isinstance(arg, tuple) for arg in args):
        caches = context.program.functions[index].caches
        traces.caches = {f"a{cache.parameter}": cache for cache in caches}
    left = iter(decisions)
    frame = Frame(
        index, objects, traces.spaces, traces.scratch, (0,) * len(traces.peak), TraceSize()
    )
    state, pc, known = State.entry(frame), 0, {}
    callers: list[tuple[State, Call]] = []
    while True:
        tracer = Tracer(context, state, pc, known, counters=traces.counters, traces=traces)
        end = tracer.follow()
        traces.peak = list(map(maximum, traces.peak, state.peak))
        traces.length += len(tracer.executed)
        if traces.length > MAX_INSTRUCTIONS:
            raise NoTemplate("a long path")
        if isinstance(end, Return):
            if not callers:
                traces.finish()
                return traces, end.result
            state, call = callers.pop()
            pc, known = resume(state, call, None, (), end, end.kept)
        elif isinstance(end, TailCall):
            traces.counters.add(end.rest)
            for observer in context.observers:
                traces.body.add(f"{traces.trace.constant(observer.jumps)}()")
            if not callers:
                traces.finish()
                traces.jump = end.callee.function
                return traces, Data(0, end.callee.args)
            state, call = callers.pop()
            state.write(call.dst, _result(traces, end, next(left)))
            pc, known = call.pc, {}
        elif isinstance(end, Call):
            callers.append((state, end))
            state, pc, known = State.entry(end.callee), 0, {}
        elif isinstance(end, Branch):
            decision = next(left)
            _require_decision(traces, end, decision)
            pc, known = resume(state, end, decision)
        elif isinstance(end, Read):
            decision: Any = next(left)
            names = [_name_in(traces, tensor.array) for tensor in end.tensors]
            traces.begin_phase()
            values = [
                _read(traces, tensor.array, name, elements)
                for tensor, name, elements in zip(end.tensors, names, decision, strict=True)
            ]
            pc, known = resume(state, end, decision, values)
        elif isinstance(end, Contents):
            raise NoTemplate("references")
        else:
            pc, known = resume(state, end, None)


def _parameters(traces: Traces, index: int, args: Sequence[object]) -> tuple[Object, ...]:
    """Return places for arguments of such types, with guards that arguments have them."""
    program = traces.context.program
    function = program.functions[index]
    named: dict[str, Number] = {}
    parameters: list[Object] = []
    for number, (param, arg) in enumerate(zip(function.params, args, strict=True)):
        declared = param.spec.shape if param.spec else None
        item, facts = object_of(cast(Any, arg)), (param.dims, declared, named)
        parameters.append(_argument(traces, item, f"p{number}", param.device, *facts))
    objects = tuple(parameters)
    check_arguments(program, function, objects)
    check_types(program, function, objects)
    return objects


def _result(traces: Traces, call: TailCall, structure: Any) -> Object:
    """Return places for the result of `call`, of this structure, and of what runs in its place."""
    callee = call.callee
    code = code_of_value(Data(0, callee.args), partial(_name_in, traces))
    name = f"p{len(traces.context.program.functions[traces.index].params) + traces.loops}"
    traces.loops += 1
    jump = traces.trace.constant(traces.context.jump)
    traces.body.add(f"{name} = {jump}({callee.function}, {code}, running)")
    traces.begin_phase()
    result, _ = built(structure, lambda leaf: Tensor(stand_in(leaf), leaf.device))
    traces.trace.guard(f"running.devices == {devices_of(result)}")
    return _argument(traces, result, name)


def code_of_value(item: Object, name: Callable[[Any], str]) -> str:
    """Return the expression for a value; `name` returns that for an array in it."""
    if isinstance(item, Tensor):
        return name(item.array)
    if not isinstance(item, Data | Closure):
        raise StaysInsideError(item)
    fields = f"({''.join(f'{code_of_value(part, name)}, ' for part in item.parts)})"
    if isinstance(item, Closure):
        return f"Captured({item.function}, {fields})"
    return f"Tagged({item.tag}, {fields})" if item.tag else fields


def _argument(
    traces: Traces,
    arg: Object,
    code: str,
    device: int = 0,
    labels: Sequence[str] = (),
    declared: Any = None,
    named: dict[str, Number] | None = None,
) -> Object:
    """Return places for a value like `arg`, which is `code`, with guards that it is like that."""
    trace, body = traces.trace, traces.body
    named = {} if named is None else named

    if isinstance(arg, Tensor):
        array: Any = arg.array
        name = f"a{traces.arguments}"
        traces.arguments += 1
        dims, dtype = [f"{name}_{axis}" for axis in range(array.ndim)], trace.constant(array.dtype)
        trace.lines.append((name, code))
        trace.guard(f"type({name}) is nd and {name}.dtype is {dtype}")
        shape: list[Number] = []
        if not array.shape or (declared and None not in declared):
            trace.guard(f"{name}.shape == {array.shape}")
            shape += array.shape
        else:
            trace.lines.append((f"{', '.join(dims)},", f"{name}.shape"))
        for axis in range(len(shape), array.ndim):
            label = labels[axis] if axis < len(labels) else ""
            if declared and declared[axis] is not None:
                trace.guard(f"{dims[axis]} == {array.shape[axis]}")
                shape.append(array.shape[axis])
            elif label and label in named:
                trace.guard(f"{dims[axis]} == {code_of(named[label])}")
                shape.append(named[label])
            else:
                shape.append(trace.dim(dims[axis], array.shape[axis]))
                if label:
                    named[label] = shape[-1]
        body.add(f"if {name}.flags.num & 257 != 257: {name} = array({name}, order='C')")
        place: Any = Place(body, name, 0, array.dtype, shape, flags=Flags(True, False))
        return Tensor(place, device or arg.device)
    assert isinstance(arg, Data | Closure), "other objects stay inside"
    tag = arg.tag if isinstance(arg, Data) else arg.function
    kind = "Tagged" if isinstance(arg, Data) else "Captured"
    is_plain = isinstance(arg, Data) and not tag
    guard = "tuple" if is_plain else f"{kind} and {code}.tag == {tag}"
    trace.guard(f"type({code}) is {guard} and len({code}) == {len(arg.parts)}")
    parts = [_argument(traces, part, f"{code}[{i}]", device) for i, part in enumerate(arg.parts)]
    return type(arg)(tag, tuple(parts))


def _require_decision(traces: Traces, end: Branch, decision: Decision) -> None:
    """Require that a call decides as this one did."""
    test: Any = end.test
    names = [_name_in(traces, place) for place in test.args[0]]
    traces.begin_phase()
    items = [f"{name}.item()" for name in names]
    condition = f"{items[0]} == {items[1]}" if len(items) == 2 else f"{items[0]} != 0"
    traces.trace.lines.append(("", condition if decision else f"not ({condition})"))


def _name_in(traces: Traces, place: Any) -> str:
    """Return the name of a place or an array in the template."""
    return place.name() if isinstance(place, Place) else traces.trace.constant(place)


def _read(traces: Traces, place: Any, name: str, elements: bytes) -> Any:
    """Return the elements of a tensor that is read as sizes."""
    if not isinstance(place, Place):
        return place
    count = prod(place.shape)
    if isinstance(count, Traced) or count > MAX_READ or place.dtype.kind not in "biu":
        raise NoTemplate("many elements, or floats, that are read")
    values = np.frombuffer(elements, place.dtype).tolist()
    codes = [f"{name}.item({i})" for i in range(count)]
    if place.dtype.kind == "b":
        codes = [f"int({code})" for code in codes]
    sizes = [traces.trace.read(*pair) for pair in zip(codes, map(int, values), strict=True)]
    return Sizes(traces.body, sizes, tuple(place.shape))
