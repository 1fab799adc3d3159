"""The instructions of a function, as they are emitted; constants and devices of the program."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, NoneAttr, StringAttr, SymbolRefAttr, UnknownLoc
from xdsl.ir import Attribute, Block, Operation, OpResult, Region, SSAValue

from ...dialects import bytecode, memory, relay
from ...dialects.bytecode.fields import RegisterAttr
from ...dialects.device import VirtualDeviceAttr, device_of, devices_in
from ...dialects.xdsl_extras.identity import by_identity
from ...passes.support.diagnostics import PassError
from .decision_trees import Constructors
from .register_lifetimes import Cleared, RegisterLifetimes

_device_of = by_identity(device_of)


def device_at(value: SSAValue) -> VirtualDeviceAttr:
    """Return the device of `value`; an error if its type has none."""
    device = _device_of(value.type)
    if device is None and not any(True for _ in devices_in(value.type)):
        raise PassError(f"the machine has no values of type {value.type}", value)
    if device is None:
        raise PassError(
            f"a value of type {value.type} has no device; run plan-devices first", value
        )
    return device


@dataclass
class Constants:
    """The constants of the program, without repeats, in order of first use."""

    ops: list[Operation] = field(default_factory=list[Operation])
    names: dict[Attribute, SymbolRefAttr] = field(default_factory=dict[Attribute, SymbolRefAttr])

    def named(
        self,
        value: Attribute,
        at: Operation,
        kind: type[Operation] = bytecode.ConstantOp,
        **properties: Attribute,
    ) -> SymbolRefAttr:
        """Return the symbol of the constant `value`; one that is new is defined as it is `at`."""
        name = self.names.get(value)
        if name is None:
            symbol = StringAttr(f"const_{len(self.ops)}")
            name = self.names[value] = SymbolRefAttr(symbol)
            properties = {"sym_name": symbol, **(properties or {"value": value})}
            self.ops.append(kind.create(properties=properties, location=at.location))
        return name


@dataclass
class Devices:
    """The devices of the program: the host, then the others in order of first use."""

    listed: dict[VirtualDeviceAttr, None]
    pools: Mapping[str, memory.PoolAttr] = field(default_factory=dict[str, memory.PoolAttr])
    _plain: dict[VirtualDeviceAttr, VirtualDeviceAttr] = field(
        default_factory=dict[VirtualDeviceAttr, VirtualDeviceAttr]
    )

    def use(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Return `device` as the machine knows it, by type and id, and list it."""
        plain = self._plain.get(device)
        if plain is None:
            plain = VirtualDeviceAttr(device.device_type, device.device_id)
            self._plain[device] = plain
            self.listed.setdefault(plain)
        return plain

    def place(self, device: VirtualDeviceAttr) -> VirtualDeviceAttr:
        """Return where a storage is as the machine knows it: a device, or a pool of one."""
        home = self.use(device)
        if memory.place_of(device) not in self.pools or isinstance(device.scope, NoneAttr):
            return home
        pool = VirtualDeviceAttr(device.device_type, device.device_id, scope=device.scope)
        self.listed.setdefault(pool)
        return pool

    @property
    def host(self) -> VirtualDeviceAttr:
        """The device of sizes and shapes."""
        return next(iter(self.listed))


@dataclass
class BytecodeBuilder:
    """The instructions of one function, and the register of each value."""

    constants: Constants
    devices: Devices
    plain: Callable[[Attribute], Attribute]
    constructors: Constructors
    rules: Mapping[type[Operation], Rule]
    shape_functions: Mapping[str, relay.ShapeFuncOp] = field(
        default_factory=dict[str, relay.ShapeFuncOp]
    )
    lifetimes: RegisterLifetimes | None = None
    """None if the function kills nothing."""
    code: list[Operation] = field(default_factory=list[Operation])
    registers: dict[SSAValue, RegisterAttr] = field(default_factory=dict[SSAValue, RegisterAttr])
    register_count: int = 0
    turn: RegisterAttr | None = None
    """The number of the iteration of the loop that is being lowered, if there is one."""
    repeated: Block | None = None
    """The block of the loop."""
    in_turn: dict[tuple[object, ...], RegisterAttr] = field(
        default_factory=dict[tuple[object, ...], RegisterAttr]
    )
    """The numbers that ops of the loop have computed in an iteration, by how they are computed."""
    head: int = 0
    """The first instruction of an iteration."""
    loaded: dict[tuple[object, ...], RegisterAttr] = field(
        default_factory=dict[tuple[object, ...], RegisterAttr]
    )
    """The constants that each block has loaded."""
    call: Operation | None = None
    """The call whose callee is being inlined: the location of ops without one."""

    def new_register(self) -> RegisterAttr:
        self.register_count += 1
        return RegisterAttr(self.register_count - 1)

    def once(
        self, op: Operation, constant: tuple[object, ...], load: Callable[[], RegisterAttr]
    ) -> RegisterAttr:
        """Return the register of a constant that `op` reads, which its block loads once."""
        if self.call is not None:  # a block may be inlined in several arms
            return load()
        key = op.parent, *constant
        if key not in self.loaded:
            self.loaded[key] = load()
        return self.loaded[key]

    def define(self, value: SSAValue) -> RegisterAttr:
        """Give `value` a new register."""
        return self.place(value, self.new_register())

    def place(self, value: SSAValue, register: RegisterAttr) -> RegisterAttr:
        """Let `register`, which holds nothing else, be that of `value`."""
        self.registers[value] = register
        if self.lifetimes is not None and isinstance(value, OpResult):
            self.lifetimes.define(value, register)
        return register

    def define_merged(
        self, results: Sequence[SSAValue], merged: Sequence[RegisterAttr], cleared: Cleared
    ) -> None:
        """Let the registers that regions moved values to, and `cleared`, be those of `results`."""
        if self.lifetimes is not None:
            self.lifetimes.cleared_in_branches(cleared)
        for result, register in zip(results, merged, strict=True):
            self.place(result, register)

    def allocation_of(self, tensor: SSAValue) -> Operation | None:
        """Return the last instruction, which is then none any more, if it allocates `tensor`."""
        last = self.code[-1] if self.code else None
        if last is None or type(last) is not bytecode.AllocTensorOp:
            return None
        return self.code.pop() if last.properties["dst"] == self.registers[tensor] else None

    def share(self, value: SSAValue, other: SSAValue) -> None:
        """Let `value` share the register of `other`."""
        self.registers[value] = self.registers[other]

    def registers_of(self, values: Sequence[SSAValue]) -> ArrayAttr[RegisterAttr]:
        return ArrayAttr([self.registers[v] for v in values])

    def emit(self, kind: type[Operation], at: Operation, **fields: Attribute) -> Operation:
        location = at.location
        if self.call is not None and isinstance(location, UnknownLoc):
            location = self.call.location
        instruction = kind.create(properties=fields, location=location)
        self.code.append(instruction)
        return instruction

    @contextmanager
    def inlining(self, call: Operation) -> Generator[None]:
        """
        Lower the body of the callee of `call`, whose values have no lifetimes.

        Instructions without a location have that of the call.
        """
        lifetimes, self.lifetimes, self.call = self.lifetimes, None, call
        try:
            yield
        finally:
            self.lifetimes, self.call = lifetimes, None

    def clear(self, registers: Iterable[RegisterAttr], at: Operation) -> None:
        """Emit the instructions that clear `registers`."""
        for register in registers:
            self.emit(bytecode.KillRegisterOp, at, register=register)

    def lower_block(self, block: Block) -> Operation:
        """Lower the ops of `block` but its terminator, which is returned."""
        op = block.first_op
        while op is not None:
            following = op.next_op
            if following is None:
                return op
            rule = self.rules.get(type(op))
            if rule is None:
                cure = "lower it first, or use xrelay-run --evaluate"
                raise PassError(f"{op.name} has no instruction; {cure}", op)
            rule(self, op)
            if self.lifetimes is not None and (freed := self.lifetimes.freed_by.get(op)):
                registers = self.registers
                self.clear((registers[s] for s in freed if s in registers), op)
            for storage in (
                () if self.lifetimes is None else self.lifetimes.shared.ended_by.get(op, ())
            ):
                self.emit(bytecode.KillStorageOp, op, storage=self.registers[storage])
            if self.lifetimes is not None:
                self.clear(self.lifetimes.release(op, self.registers), op)
            op = following
        raise AssertionError("verified: a block ends with a terminator")

    def lower_region(
        self, region: Region, merged: Sequence[RegisterAttr], at: Operation
    ) -> Cleared:
        """
        Lower the ops of `region` of `at`, and move what it yields to the registers `merged`.

        These must be new ones, as a region may yield a value that is used later too. Returns the
        registers defined before `at` that the region clears, for `define_merged`.
        """
        outside = None if self.lifetimes is None else self.lifetimes.enter_branch()
        terminator = self.lower_block(region.block)
        for register, value in zip(merged, terminator.operands, strict=True):
            self.emit(bytecode.MoveOp, terminator, dst=register, src=self.registers[value])
        if self.lifetimes is None or outside is None:
            return []
        self.clear(self.lifetimes.release(region.block, self.registers), terminator)
        ends, cleared = self.lifetimes.leave_branch(outside, terminator.operands, at.results)
        self.clear(ends, terminator)
        return cleared


Rule: TypeAlias = Callable[[BytecodeBuilder, Operation], None]
"""Emits the instructions of an op."""
