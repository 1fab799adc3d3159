"""
The memory report: per function and device, what is needed and what is allocated.

    memory of @main on cpu:0
      sum of tensors  11,686,112 B  11.1 MiB  31 tensors
      lower bound      3,928,576 B   3.7 MiB  alive at fused_nn_max_pool2d (squeezenet.mlir:16)
      planned          3,932,576 B   3.8 MiB  1.001 x the lower bound, 0.337 x the sum
      allocations                2            instead of 31, one for each tensor

The lower bound is the most bytes of tensors that are alive at once on one path; planned are the
most bytes of storages that are allocated at once. Sizes that are not known yet are formulas; given
values of their dims, they are numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ...planning import Pool
from ...runtime.plain_text import human, printable, table
from ..tiling.stripe_attributes import TilingRecord
from .loads import Peak, loads, peak_of, peak_text
from .model import DeviceUse, FunctionUse, MemoryUse, Segment

SHOWN = 10
"""The number of tensors at the peak that are listed."""

MAX_FORMULA = 32
"""The length of formulas that stand beside numbers."""

MAX_LINE = 160
"""The length of formulas in lines of their own, which end there."""


@dataclass(frozen=True)
class Amount:
    """A number of bytes: exact if it is known, and as a formula if it depends on dims."""

    bytes: int | None
    formula: str | None = None
    example: int = 0
    """The number for the examples of dims that have no value."""

    @property
    def exact(self) -> str:
        known = "" if self.bytes is None else f"{self.bytes:,} B"
        if self.formula is None:
            return known
        if self.is_long:
            return known or "(below)"
        return f"{self.formula} = {known}" if known else self.formula

    @property
    def is_long(self) -> bool:
        """True if the formula needs a line of its own."""
        return self.formula is not None and len(self.formula) > MAX_FORMULA

    @property
    def rounded(self) -> str:
        return "" if self.bytes is None else human(self.bytes)


@dataclass(frozen=True)
class AtPeak:
    """A tensor that is alive at the peak."""

    name: str
    bytes: int
    formula: str | None
    offset: int
    storage: str
    op: str
    operators: tuple[str, ...]
    source: str


@dataclass(frozen=True)
class DeviceReport:
    """The memory of a device that a function uses."""

    function: str
    device: str
    dims: Mapping[str, int]
    """The values of dims for which the numbers are."""
    missing: tuple[str, ...]
    """The dims that have no value: numbers are for their examples, amounts are formulas."""
    examples: str
    """Those, as text: `n = 128`."""
    tensors: int
    allocations: int
    given: int
    """The number of storages that the caller allocates."""
    from_caller: Amount
    """Their sizes."""
    passed: int
    """The number of storages that calls use, whose tensors are those of the callees."""
    sum: Amount
    lower_bound: Amount
    planned: Amount
    outlives: Amount
    """The storages whose bytes are in use after the function."""
    pool: Pool | None
    """The pool, unless it is a device without any."""
    peak_op: str
    peak_source: str
    tiling: TilingRecord | None
    largest: list[AtPeak] = field(default_factory=lambda: [])

    @property
    def ratio(self) -> float | None:
        return _over(self.planned, self.lower_bound)

    @property
    def share(self) -> float | None:
        """Planned bytes over the sum of all tensors, if they are all in this function."""
        return None if self.passed else _over(self.planned, self.sum)


def _over(amount: Amount, other: Amount) -> float | None:
    if not amount.bytes or not other.bytes:
        return None
    return amount.bytes / other.bytes


def options_of(use: MemoryUse) -> list[str]:
    """Return the names of the dims that can be given values, without duplicates."""
    named = [v.name for function in use.functions for v in function.formulas.variables]
    return list(dict.fromkeys(named))


def unknown_dims(use: MemoryUse, dims: Mapping[str, int]) -> list[str]:
    """Return the names in `dims` that no function has."""
    variables = [v for function in use.functions for v in function.formulas.variables]
    known = {option for variable in variables for option in variable.options}
    return [name for name in dims if name not in known]


def given_values(use: FunctionUse, dims: Mapping[str, int]) -> list[int | None]:
    """Return the value of each variable of a function, None if it is not in `dims`."""
    return [
        next((dims[option] for option in variable.options if option in dims), None)
        for variable in use.formulas.variables
    ]


Dims = Mapping[str, int]
"""Values of dims by name."""


def report_of(
    use: MemoryUse, dims: Dims, by_function: Mapping[str, Dims] | None = None
) -> list[DeviceReport]:
    """Return the report of each function and device, for values of dims, of all and of each."""
    own = by_function or {}
    return [
        _report(
            function,
            device,
            {**dims, **own.get(function.name, {})},
            (function.pools or use.pools).get(device.device),
        )
        for function in use.functions
        for device in function.devices()
    ]


def planned_with_calls(
    use: MemoryUse, entry: str, device: str, by_function: Mapping[str, Dims]
) -> int | None:
    """
    Return the most bytes of storages that `entry` and what it calls hold at once on a device.

    None if that is not known: in a recursion, or if a dim has no value.
    """
    functions = {function.name: function for function in use.functions}
    planned: dict[str, int | None] = {}
    pending = [(entry, False)]
    while pending:
        name, ready = pending.pop()
        function = functions.get(name)
        if function is None:  # it allocates nothing, and calls nothing that does
            planned[name] = 0
        elif ready:
            planned[name] = _with_calls(function, device, by_function.get(name, {}), planned)
        elif name not in planned:
            planned[name] = None  # until it is known: what a recursion needs is not
            pending.append((name, True))
            pending += [(f"@{call.callee}", False) for call in function.calls]
    return planned[entry]


def _with_calls(
    function: FunctionUse, device: str, dims: Dims, called: Mapping[str, int | None]
) -> int | None:
    given = [value for value in given_values(function, dims) if value is not None]
    if len(given) < len(function.formulas.variables):
        return None
    on_device = [use for use in function.devices() if use.device == device]
    held = segments_on(function, on_device[0])[1] if on_device else []
    columns = loads(held, len(function.columns), function.formulas.evaluate(given))
    most = max(columns, default=0)
    for column, callee in function.calls:
        inner = called.get(f"@{callee}")
        if inner is None:
            return None
        most = max(most, columns[min(column, len(columns) - 1)] + inner)
    return most


def _report(
    use: FunctionUse, device: DeviceUse, dims: Mapping[str, int], pool: Pool | None
) -> DeviceReport:
    formulas = use.formulas
    given = given_values(use, dims)
    pairs = zip(formulas.variables, given, strict=True)
    values = formulas.evaluate([v.example if value is None else value for v, value in pairs])
    live, held = segments_on(use, device)
    width = len(use.columns)
    own = [use.tensors[row] for row in device.tensors if not use.tensors[row].is_passed]
    sizes = [tensor.size for tensor in own]
    there = [use.storages[row] for row in device.storages]
    outliving = [storage.size for storage in there if storage.outlives and not storage.is_given]
    given_sizes = [storage.size for storage in there if storage.is_given]
    needed = {segment.size for segment in (*live, *held)} | set(sizes)
    used = set(formulas.variables_of([*needed]))
    missing = [formulas.variables[i] for i in sorted(used) if given[i] is None]
    peak = peak_of(loads(live, width, values))
    column = use.columns[peak.column]

    def amount(value: int, text: str | None) -> Amount:
        return Amount(None if missing else value, text if used else None, value)

    def total(numbers: Sequence[int]) -> Amount:
        return amount(sum(values[n] for n in numbers), _sum_text(use, numbers))

    def most(segments: list[Segment]) -> Amount:
        text = peak_text(segments, width, formulas) if used else None
        return amount(
            peak_of(loads(segments, width, values)).size, text or "that of the largest path"
        )

    return DeviceReport(
        use.name,
        device.device,
        {formulas.variables[i].name: v for i in sorted(used) if (v := given[i]) is not None},
        tuple(variable.name for variable in missing),
        ", ".join(f"{variable.name} = {variable.example}" for variable in missing),
        len(own),
        len(there) - len(given_sizes),
        len(given_sizes),
        total(given_sizes),
        len(device.tensors) - len(own),
        total(sizes),
        most(live),
        most(held),
        total(outliving),
        pool,
        column.label,
        str(column.source or ""),
        use.tiling,
        _largest(use, live, peak, values),
    )


def segments_on(use: FunctionUse, device: DeviceUse) -> tuple[list[Segment], list[Segment]]:
    """Return the bytes of tensors, and of storages, in use on a device."""
    tensors, storages = set(device.tensors), set(device.storages)
    return (
        [segment for segment in use.live if segment.row in tensors],
        [segment for segment in use.held if segment.row in storages],
    )


def _sum_text(use: FunctionUse, numbers: Sequence[int]) -> str:
    sizes = [use.formulas.polynomials[number] for number in numbers]
    return str(sum(sizes[1:], start=sizes[0])) if sizes else "0"


def _largest(
    use: FunctionUse, live: list[Segment], peak: Peak, values: Sequence[int]
) -> list[AtPeak]:
    alive = [segment for segment in live if segment.start <= peak.column < segment.stop]
    alive = [segment for segment in alive if values[segment.size]]
    alive.sort(key=lambda segment: -values[segment.size])
    largest: list[AtPeak] = []
    for segment in alive[:SHOWN]:
        tensor = use.tensors[segment.row]
        constant = use.formulas.constant(tensor.size) is not None
        largest.append(
            AtPeak(
                tensor.name,
                values[segment.size],
                None if constant else str(use.formulas.polynomials[tensor.size]),
                values[tensor.offset],
                use.storages[tensor.storage].name,
                tensor.op,
                tensor.operators,
                str(tensor.source or ""),
            )
        )
    return largest


def text_lines(reports: Sequence[DeviceReport]) -> Iterator[str]:
    """Yield the lines of a report: a block for each function and device."""
    for i, report in enumerate(reports):
        if i:
            yield ""
        yield from _block(report)


def _block(report: DeviceReport) -> Iterator[str]:
    dims = ", ".join(f"{name} = {value}" for name, value in report.dims.items())
    yield printable(f"memory of {report.function} on {report.device}{dims and f', for {dims}'}")
    ratio, share = report.ratio, report.share
    at = f"alive at {report.peak_op}"
    if report.peak_source:
        at += f" ({report.peak_source})"
    planned = "" if ratio is None else f"{ratio:.3f} x the lower bound"
    if share is not None:
        planned += f", {share:.3f} x the sum"
    count = "tensor" if report.tensors == 1 else "tensors"
    given = f"{report.given:,} {'storage' if report.given == 1 else 'storages'}, not planned here"
    amounts = [
        ("sum of tensors", report.sum, f"{report.tensors:,} {count}"),
        ("lower bound", report.lower_bound, "" if report.missing else at),
        ("planned", report.planned, planned),
        *([("from the caller", report.from_caller, given)] if report.given else []),
        ("outlives the call", report.outlives, "part of planned"),
    ]
    rows = [[what, amount.exact, amount.rounded, note] for what, amount, note in amounts]
    instead = f"instead of {report.tensors:,}, one for each tensor"
    rows.append(["allocations", f"{report.allocations:,}  ", "", instead])
    if report.pool is not None:
        capacity, cost = report.pool.capacity, report.pool.cost
        room = ["unbounded", ""] if capacity is None else [f"{capacity:,} B", human(capacity)]
        at = next(i for i, row in enumerate(rows) if row[0] == "planned")
        rows.insert(at + 1, ["capacity", *room, f"of the pool; reading a byte costs {cost}"])
    yield from table(rows, "<>><", "  ")
    for what, amount, _ in amounts:
        if amount.is_long:
            yield printable(f"  {what} = {_line_of(report, amount)}")
    if report.tiling is not None:
        chains = report.tiling.chains
        yield f"  tiled, {max(report.tiling.live):,} bytes were live before:"
        yield from (printable(f"    {chain}") for chain in chains)
    if not report.largest:
        return
    where = f" if {report.examples}" if report.missing else ""
    yield printable(f"  largest of the tensors alive at the peak{where}:")
    lines = [
        [
            tensor.name,
            f"{tensor.bytes:,} B",
            human(tensor.bytes),
            f"{tensor.storage}[{tensor.offset:,}]",
            tensor.op,
            tensor.source,
        ]
        for tensor in report.largest
    ]
    yield from table([["tensor", "bytes", "", "slot", "written by", "source"], *lines], "<>>><<")


def _line_of(report: DeviceReport, amount: Amount) -> str:
    """Return a long formula, after its value for the examples if dims have no value."""
    formula = amount.formula or ""
    if len(formula) > MAX_LINE:
        rest = f"{len(formula):,} characters, in full in --memory-report=json"
        formula = f"{formula[:MAX_LINE]}… ({rest})"
    if not report.missing:
        return formula
    return f"{amount.example:,} B if {report.examples}: {formula}"


def json_of(reports: Sequence[DeviceReport]) -> list[dict[str, Any]]:
    """Return a report as JSON values."""
    return [_json(report) for report in reports]


def _json(report: DeviceReport) -> dict[str, Any]:
    def amount(found: Amount) -> dict[str, Any]:
        return {"bytes": found.bytes, "formula": found.formula}

    pool = report.pool
    return {
        "function": report.function,
        "device": report.device,
        "dims": dict(report.dims),
        "missing_dims": list(report.missing),
        "tensors": report.tensors,
        "sum": amount(report.sum),
        "lower_bound": amount(report.lower_bound),
        "planned": amount(report.planned),
        "outlives": amount(report.outlives),
        "pool": pool and {"capacity": pool.capacity, "cost": pool.cost},
        "ratio": report.ratio,
        "allocations": {"before": report.tensors, "after": report.allocations},
        "from_caller": {"storages": report.given, **amount(report.from_caller)},
        "tiling": report.tiling and vars(report.tiling),
        "peak": {"op": report.peak_op, "source": report.peak_source},
        "largest": [
            {**vars(tensor), "operators": list(tensor.operators)} for tensor in report.largest
        ],
    }
