"""Our results for programs, in a form that can be compared."""

import re

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from xrelay.dialects.device import device_of
from xrelay.dialects.memory import Memory
from xrelay.dialects.relay import DeviceCopyOp, Relay
from xrelay.dialects.relay.language.annotations import ATTRS
from xrelay.dialects.vm import Vm
from xrelay.frontends.relay_text import parse_module
from xrelay.passes.plan_devices import PlanDevicesPass
from xrelay.passes.support.diagnostics import ReportingContext

DEFAULT = "cuda:0"


def context() -> ReportingContext:
    """Return a context that reads Relay text and suppresses messages."""
    ctx = ReportingContext(handler=lambda message: None)
    for dialect in (Relay, Memory, Vm):
        ctx.register_dialect(dialect.name, lambda dialect=dialect: dialect)
    return ctx


def read(text: str) -> ModuleOp:
    """Parse Relay text."""
    return parse_module(context(), text, "program.relay")


def plan(module: ModuleOp) -> ModuleOp:
    """Plan the devices of `module`; raise `PassError` if that fails."""
    PlanDevicesPass(DEFAULT).apply(context(), module)
    return module


def targets(module: ModuleOp) -> tuple[str, ...]:
    """Return the target that `module` names first for each type of device, as options."""
    named = re.findall(r'relay.device<(\w+):\d+, target = "([^"]*)"', str(module))
    return tuple(f"{kind}={target}" for kind, target in dict(reversed(named)).items())


def signatures(module: ModuleOp) -> dict[str, list[str]]:
    """Return the devices of the parameters and results of each function."""
    found: dict[str, list[str]] = {}
    for op in module.ops:
        if isinstance(op, FuncOp):
            devices = map(device_of, (*op.function_type.inputs, *op.function_type.outputs))
            found[op.sym_name.data] = ["?" if d is None else f"{d.spec}" for d in devices]
    return found


def copies(module: ModuleOp) -> int:
    """Count the copies between devices."""
    return sum(isinstance(op, DeviceCopyOp) for op in module.walk())


def canonical(module: ModuleOp) -> str:
    """
    Return the IR as text without names, targets of devices and attributes of functions.

    A program's hooks may set attributes while TVM plans it.
    """
    lines: list[str] = []
    names: dict[str, str] = {}
    module = module.clone()
    for op in module.ops:
        op.attributes.pop(ATTRS, None)
    for line in re.sub(r', target = "[^"]*"', "", str(module)).split("\n"):
        if "func.func" in line:
            names = {}
        lines.append(re.sub(r"%\w+", lambda m: names.setdefault(m[0], f"%{len(names)}"), line))
    return "\n".join(lines)


def in_dataflow_order(module: ModuleOp) -> ModuleOp:
    """Sort the ops of each block in place: operands first, from the terminator on."""
    blocks = [b for op in module.walk() for region in op.regions for b in region.blocks]
    for block in blocks:
        if block.last_op is None or isinstance(block.parent_op(), ModuleOp):
            continue
        order: dict[Operation, None] = {}
        rest = [(op, False) for op in (*block.ops, block.last_op)]
        while rest:
            op, is_ready = rest.pop()
            if op in order:
                continue
            if is_ready:
                order[op] = None
                continue
            rest.append((op, True))
            sources = [v.owner for inner in op.walk() for v in inner.operands]
            ops = [block.find_ancestor_op_in_block(o) for o in sources if isinstance(o, Operation)]
            rest += [(source, False) for source in reversed(ops) if source not in (None, op)]
        last = block.last_op
        for op in [*(op for op in order if op is not last), last]:
            op.detach()
            block.add_op(op)
    return module
