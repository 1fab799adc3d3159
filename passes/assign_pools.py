"""
Choose the pool of each storage: the memory of its device that it is in.

    %a = memory.alloc_storage 4096 align 64 : !memory.storage<#cpu0>
    ->
    module attributes {memory.pools = [#memory.pool<#dtcm, capacity 65536, cost 1, align 1>, …]}
    %a = memory.alloc_storage 4096 align 64 : !memory.storage<#dtcm>

With `pools="dtcm=64KiB:1,sram=512KiB:3,psram=:10"` (`planning.buffers`), a pool is a memory scope
of the host; `cuda:0/shared` is one of another device, and `cpu:0` is the memory of the device
itself. Storages of a device with pools are placed whole, as `planning.solve` finds it best for
their sizes, lifetimes, reads and writes: with `minimize=cost`, bytes that are read and written
often are where that costs least. Tensors keep their types: one on `cpu:0` may lie in any pool of
it.

Functions are planned callees first: what a callee needs of each pool counts at each call of it. A
function that recurses, a closure, and a function that is a value have memory of their own in each
activation, which is in the last pool of the device, and counts when the program runs. What a
function returns is in that pool, too; what an entry returns is its caller's: in the memory of the
device itself, if that is a pool, or in none. Storages of dynamic size are placed for a sample of
dims (`sizes.sample_sizes`), the largest at which all fit: a remark says so if it is not the largest
of all. The machine, and native code's callers, check the capacities.

It is an error if the storages of a function do not fit. Levels `manifest` and `memory-planned`;
before `pass-workspaces`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import memory
from ..dialects.device import device_of
from ..dialects.interfaces import CallsFunction, DestinationPassing
from ..planning import Arm, Buffer, Infeasible, Interval, Plan, Problem, ProblemError, solve
from ..planning.shortage import shortage_message
from .bytes.aliases import AliasClasses, Contents, bodies_of, contents_of
from .bytes.liveness import live_ranges
from .bytes.op_facts import facts_of, has_bytes
from .bytes.packs import arms_of
from .bytes.storages import Storage, storages_of
from .devices.options import device_option, planned_pools, pools_option
from .functions.symbols import CallGraph
from .sizes.reader import Sizes
from .sizes.sample_sizes import Sample, samples_of
from .support.changes import LevelPass
from .support.diagnostics import PassError, emit_remark, wants_remarks
from .support.rewriting import rewrite_each
from .workspaces.lending import calls_directly, is_entry

Minimize = Literal["cost", "heights"]

MAX_SUM = 2**48
"""Samples with a sum of sizes from this on are not planned for."""


def spec_of(op: memory.AllocStorageOp) -> str | None:
    """Return the device of a storage, without its target and scope."""
    device = device_of(op.storage.type)
    return None if device is None else device.spec


def accesses(contents: Contents, classes: AliasClasses) -> tuple[int, int]:
    """Return how many ops read, and how many write, what is in a storage, under all its names."""
    reads, writes = set[Operation](), set[Operation]()
    pending, seen = [*contents.values], set(contents.values)
    while pending:
        value = pending.pop()
        for use in value.uses:
            op, facts = use.operation, facts_of(use.operation)
            if facts.frees or facts.only_sizes:
                continue
            if facts.writes and value in DestinationPassing.outs(op):
                writes.add(op)
                aliases = [*op.results]
                aliases = [r for r in aliases if classes.of(r) == classes.of(value)]
            elif facts.writes or facts.calls is not None:
                reads.add(op)
                continue
            else:
                aliases = [result for result in op.results if has_bytes(result.type)]
            new = [alias for alias in aliases if alias not in seen]
            seen.update(new)
            pending += new
    return len(reads), len(writes)


@dataclass
class Needs:
    """The bytes of each pool that a call of a function takes: during the call, and after it."""

    workspace: dict[str, int] = field(default_factory=lambda: {})
    results: dict[str, int] = field(default_factory=lambda: {})


@dataclass
class Assignment:
    """Finds the pools of the storages of functions, callees first."""

    pools: dict[str, list[memory.PoolAttr]]
    """The pools of each device."""
    minimize: str
    sizes: Sizes
    ctx: Context
    """Gets a remark if storages are placed for sizes below the largest samples."""
    chosen: dict[memory.AllocStorageOp, memory.PoolAttr] = field(default_factory=lambda: {})
    needs: dict[str, Needs] = field(default_factory=lambda: {})

    def assign(self, classes: AliasClasses, name: str, *, counts: bool, entry: bool) -> None:
        """Choose for the storages of a body; if it `counts`, calls of `name` need what it needs."""
        inside = storages_of(classes).storages
        own = {storage.op for storage in inside}
        outliving = [s for s in storages_of(classes, outliving=True).storages if s.op not in own]
        for device, pools in self.pools.items():
            here = [s for s in inside if spec_of(s.op) == device]
            kept = [s for s in outliving if spec_of(s.op) == device]
            last = pools[-1]
            if entry:  # of pools, its results may be in the memory of the device alone
                last = next((p for p in pools if not isinstance(p.device.scope, StringAttr)), None)
            if last is None:
                kept = []
            elif not entry:
                self.chosen.update((storage.op, last) for storage in kept)
            if not counts:
                self.chosen.update((storage.op, pools[-1]) for storage in here)
                continue
            rows = [*self.rows(here, classes)]
            end = len(classes.body.rows)
            rows += (
                row._replace(
                    id=f"result of {row.id}",
                    lifetime=Interval(0, end),
                    pools=() if last is None else (last.label,),
                )
                for row in self.rows(kept, classes)
            )
            sized = [*here, *kept]
            rows += self.calls(classes, pools)
            if not rows:
                continue
            plan = self.plan(rows, pools, sized, classes)
            for storage, number in zip(here, plan.pools, strict=False):
                self.chosen[storage.op] = pools[number]
            needs = self.needs.setdefault(name, Needs())
            for pool, height in zip(pools, plan.heights, strict=True):
                needs.workspace[memory.place_of(pool.device)] = height
            if last is not None and kept:
                needs.results[memory.place_of(last.device)] = sum(self.samples(kept)[0].sizes)

    def rows(self, storages: Sequence[Storage], classes: AliasClasses) -> Iterator[Buffer]:
        """Yield the storages as buffers without sizes."""
        for i, (storage, arms) in enumerate(zip(storages, arms_of(storages), strict=True)):
            contents = contents_of(storage.op.storage, classes)
            assert contents is not None, "a storage that may share an arena"
            reads, writes = accesses(contents, classes)
            name = storage.op.storage.name_hint or "storage"
            yield Buffer(
                f"{name} #{i}",
                storage.lifetime,
                0,
                storage.op.alignment.value.data,
                arms=tuple(Arm(str(branch), str(arm)) for branch, arm in arms),
                reads=reads,
                writes=writes,
            )

    def calls(self, classes: AliasClasses, pools: Sequence[memory.PoolAttr]) -> Iterator[Buffer]:
        """Yield what calls of functions take of each pool."""
        ranges = None
        for row in classes.body.rows:
            if facts_of(row.op).calls is None:
                continue
            name = CallsFunction.callee(row.op)
            needs, at = self.needs.get(name), classes.body.position(row.op)
            if needs is None or at is None:
                continue
            stops = [at + 1]
            if needs.results:
                ranges = ranges or live_ranges(classes, to_kill=True)
                stops += [ranges[classes.of(r)].stop for r in row.op.results if has_bytes(r.type)]
            for pool in pools:
                during, after = Interval(at, at + 1), Interval(at + 1, max(stops))
                for what, life, taken in (
                    ("call", during, needs.workspace),
                    ("results", after, needs.results),
                ):
                    if size := taken.get(memory.place_of(pool.device), 0):
                        number = f"{what} of @{name} at {at} in {pool.label}"
                        yield Buffer(number, life, size, pools=(pool.label,))

    def samples(self, storages: Sequence[Storage]) -> list[Sample]:
        """Return samples of the sizes of storages, those of the largest sum first."""
        expressions = [self.sizes.size_or(storage.op.bytes) for storage in storages]
        largest_first = sorted(
            samples_of(expressions, MAX_SUM), key=lambda s: sum(s.sizes), reverse=True
        )
        return largest_first or [Sample({}, (0,) * len(storages))]

    def plan(
        self,
        rows: Sequence[Buffer],
        pools: Sequence[memory.PoolAttr],
        storages: Sequence[Storage],
        classes: AliasClasses,
    ) -> Plan:
        """Return the plan for the largest sample that fits; an error if none does."""
        declared = planned_pools(pools)
        first = storages[0].op if storages else classes.block.last_op
        assert first is not None, "what needs memory is an op"
        short: list[tuple[Sample, Problem, Infeasible]] = []
        for sample in self.samples(storages):
            sizes = sample.sizes
            sized = [row._replace(size=size) for row, size in zip(rows, sizes, strict=False)]
            sized += rows[len(sizes) :]
            try:
                problem = Problem(tuple(sized), declared)
                answer = solve(problem, minimize=self.minimize)
            except ProblemError as error:
                message = f"these storages cannot be placed in pools: {error}"
                raise PassError(message, first) from error
            if isinstance(answer, Plan):
                if short and wants_remarks(self.ctx):
                    larger, problem, answer_there = short[0]
                    message = shortage_message(f"those for {larger}", problem, answer_there)
                    text = f"the storages of this function are placed for {sample}: {message}"
                    emit_remark(self.ctx, first, text)
                return answer
            short.append((sample, problem, answer))
        sample, problem, answer = short[-1]
        alive = [storages[row].op for row in answer.rows if row < len(storages)]
        where = f", even for {sample}," if sample.point else ""
        message = shortage_message(f"the storages of this function{where}", problem, answer)
        raise PassError(message, alive[0] if alive else first)


def put_in_pool(
    op: memory.AllocStorageOp, pool: memory.PoolAttr, rewriter: PatternRewriter
) -> None:
    """Put a storage into `pool`."""
    alignment = max(op.alignment.value.data, pool.alignment.data)
    if alignment != op.alignment.value.data:
        op.alignment = IntegerAttr(alignment, i64)
    if isinstance(pool.device.scope, StringAttr):
        retype(op.storage, memory.StorageType(pool.device), rewriter)


def retype(storage: SSAValue, type: memory.StorageType, rewriter: PatternRewriter) -> None:
    """Give `type` to a storage and its slices."""
    storage = rewriter.replace_value_with_new_type(storage, type)
    for use in tuple(storage.uses):
        if facts_of(use.operation).cuts:
            retype(use.operation.results[0], type, rewriter)


@dataclass(frozen=True)
class AssignPoolsPass(LevelPass):
    name = "assign-pools"
    accepts = "manifest"

    pools: str = ""
    """The pools, separated by commas, each as NAME=[CAPACITY][:COST[:ALIGNMENT]]."""

    minimize: Minimize = "cost"
    """The objective for a device of several pools: the cost of accesses, or the sum of heights."""

    host: str = "cpu:0"
    """The device of pools that name none."""

    entries: tuple[str, ...] = ()
    """The functions that are called from outside; if none is given, all that are not private."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pools = pools_option(self.pools, device_option(self.host, "host"))
        if not pools or memory.POOLS in op.attributes:
            return
        op.attributes[memory.POOLS] = ArrayAttr(pools)
        by_device: dict[str, list[memory.PoolAttr]] = {}
        for pool in pools:
            by_device.setdefault(pool.device.spec, []).append(pool)
        sizes = Sizes()
        sizes.read(op)
        graph = CallGraph.of(op)
        recursive = graph.recursive()
        bodies: dict[str, list[AliasClasses]] = {}
        for classes in bodies_of(op, separate=False):
            function = classes.block.parent_op()
            while function is not None and not isinstance(function, func.FuncOp):
                function = function.parent_op()
            if function is not None:
                bodies.setdefault(function.sym_name.data, []).append(classes)
        assignment = Assignment(by_device, self.minimize, sizes, ctx)
        for name in graph.callees_first():
            function = graph.symbols[name]
            for classes in bodies.get(name, ()):
                assert isinstance(function, func.FuncOp)
                is_body = classes.block.parent_op() is function
                entry = is_body and is_entry(function, self.entries)
                counts = is_body and name not in recursive
                counts = counts and all(map(calls_directly, graph.users[name]))
                assignment.assign(classes, name, counts=counts, entry=entry)
        chosen = assignment.chosen
        rewrite_each(chosen, lambda op, rewriter: put_in_pool(op, chosen[op], rewriter))
