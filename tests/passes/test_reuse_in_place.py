"""`reuse-in-place` keeps what programs compute, and never needs more memory."""

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest
from helpers.machine.in_machine import run_passes
from helpers.operators.inferring import OPERATORS
from helpers.operators.operator_cases import Case, case, other_elements
from helpers.programs.programs import assert_same, context, parse, programs
from helpers.programs.random_settings import exactly, rounds
from hypothesis import given
from hypothesis import strategies as st
from passes.test_manifest_lifetimes import modules
from passes.test_pack_storage import arrays, inputs, packs, same_in_machine, same_values
from passes.test_pack_storage import to_manifest as passes_to_manifest
from runtime.kernels.test_cases import compare
from xdsl.dialects import func
from xdsl.dialects.builtin import FunctionType, ModuleOp
from xdsl.ir import Block, Region

from xrelay.dialects import memory, relay, vm
from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.device import VirtualDeviceAttr, tensor_type
from xrelay.dialects.interfaces import ReadsBeforeWriting
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.evaluation.evaluator import evaluate
from xrelay.passes.layout_slices import problem_of
from xrelay.passes.manifest_lifetimes import ManifestLifetimesPass
from xrelay.passes.pack_storage import PackStoragePass
from xrelay.passes.reuse_in_place import ReuseInPlacePass
from xrelay.passes.support.verifier import verify
from xrelay.passes.verify_memory_plan import VerifyMemoryPlanPass
from xrelay.planning.offsets.bounds import lower_bound
from xrelay.planning.offsets.core import core_of
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.kernels.checked import Reuse
from xrelay.runtime.machine.machine import Machine
from xrelay.runtime.memory.limits import Memory

NEVER = ("isfinite", "isinf", "isnan")
"""Operators whose results never have elements of the operand's size."""
IN_PLACE = sorted(name for name, op in OPERATORS.items() if op.get_trait(ReadsBeforeWriting))
CPU = VirtualDeviceAttr("cpu", 0)


def storages(module: ModuleOp) -> list[memory.AllocStorageOp]:
    return [op for op in walk(module) if isinstance(op, memory.AllocStorageOp)]


def allocated(module: ModuleOp) -> int:
    """Return the bytes that are enough for the arenas of `module`, and those of other storages."""
    PackStoragePass().apply(context(), module)
    arenas = sum(lower_bound(core_of(problem_of(op))) for op in packs(module))
    apart = sum(-(-op.size.value.data // 64) * 64 for op in storages(module) if op.size is not None)
    return arenas + apart


def in_place(module: ModuleOp) -> int:
    """Write results over operands; return how many, after checks of what must hold."""
    before = module.clone()
    ReuseInPlacePass().apply(context(), module)
    verify(module)
    VerifyMemoryPlanPass().apply(context(), module)
    once = module.clone()
    ReuseInPlacePass().apply(context(), module)
    assert_same(module, once)
    assert allocated(module.clone()) <= allocated(before.clone())
    return len(storages(before)) - len(storages(module))


def test_operators_that_read_before_they_write_have_kernels_that_do():
    kernels = [
        name
        for name, kernel in KERNELS.items()
        if kernel.reuse in (Reuse.ELEMENTWISE, Reuse.SAME_SIZE)
    ]
    assert sorted(kernels) == [f"relay.{name}" for name in IN_PLACE]


def program_of(case: Case, overwritten: int) -> ModuleOp:
    """Return a module that calls the operator with a copy of one operand, the others as given."""

    def type(shape: Sequence[int], dtype: str, device: VirtualDeviceAttr | None = CPU) -> Any:
        return tensor_type(ELEMENT_TYPES[dtype], list(shape), device)

    given = [type(x.shape, x.dtype.name) for x in case.operands]
    ((shape, dtype),) = case.results
    result, kind = type(shape, dtype), OPERATORS[case.name]

    body = Block(arg_types=[type(x.shape, x.dtype.name, None) for x in case.operands])
    op = kind.on(body.args, properties_of(kind, case.attrs))
    body.add_ops([op, relay.YieldOp(*op.results)])
    signature = FunctionType.from_lists([a.type for a in body.args], [op.results[0].type])
    kernel = relay.PrimFuncOp("kernel", signature, Region(body))

    block = Block(arg_types=given)
    values: list[Any] = list(block.args)
    operand = case.operands[overwritten]
    storage = memory.AllocStorageOp(operand.nbytes, 64, CPU)
    tensor = memory.AllocTensorOp(storage.storage, 0, given[overwritten])
    copied = memory.CopyOp(
        operands=[values[overwritten], tensor.tensor], result_types=[given[overwritten]]
    )
    values[overwritten] = copied.result
    size = int(np.prod(shape)) * np.dtype(dtype).itemsize
    own = memory.AllocStorageOp(size, 64, CPU)
    out = memory.AllocTensorOp(own.storage, 0, result)
    symbol = func.CallOp("kernel", [], []).callee
    call = vm.InvokeTvmOp.on(symbol, values, [out.tensor])
    block.add_ops([storage, tensor, copied, own, out, call, func.ReturnOp(*call.results)])
    main = func.FuncOp("main", (given, [result]), Region(block))
    module = ModuleOp([main, kernel])
    verify(module)
    return module


def is_overwritten(case: Case, operand: int) -> bool:
    """Test whether the result has the operand's shape and element size, and may overwrite it."""
    ((shape, dtype),) = case.results
    given, trait = case.operands[operand], OPERATORS[case.name].get_trait(ReadsBeforeWriting)
    assert trait is not None
    same_size = given.dtype.itemsize == np.dtype(dtype).itemsize
    return same_size and given.shape == tuple(shape) and trait.reads(operand)


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_operator_computes_the_same_over_its_operand(name: str):
    """The machine's results are those of the reference; other operands are not overwritten."""
    tried = 0
    for number in range(60):
        this = case(name, number)
        for operand, value in enumerate(this.operands):
            expected = is_overwritten(this, operand)
            if not value.size or (not expected and number > 8):
                continue
            module = program_of(this, operand)
            ReuseInPlacePass().apply(context(), module)
            assert len(storages(module)) == 2 - expected, f"{this}, operand {operand}"
            if not expected:
                continue
            run_passes(module, "manifest-lifetimes,verify-memory-plan,lower-to-bytecode")
            machine = Machine(assemble(module), kernels=KERNELS, memory=Memory(poison=True))
            for operands in (this.operands, other_elements(this), this.operands):
                found = machine.run("main", *(x.copy() for x in operands))
                with np.errstate(all="ignore"):
                    compare(this, operands, found)
            tried += 1
        if tried >= rounds(8):
            return
    assert tried or name in NEVER


def test_programs_compute_the_same():
    """Some of their results are written over operands."""
    overwritten: list[int] = []

    @exactly(15)
    @given(text=programs(), is_fused=st.booleans())
    def check(text: str, is_fused: bool) -> None:
        overwritten.append(check_program(text, is_fused))

    check()
    assert sum(overwritten) > rounds(10)


def check_program(text: str, is_fused: bool) -> int:
    """Compare the results of a program; return how many results are written over operands."""
    module = parse(text)
    args = inputs(module, len(text))
    wanted = list(arrays(evaluate(module, args)))
    for step in passes_to_manifest():
        if is_fused or step.name != "fuse-ops":
            step.apply(context(), module)
        else:
            run_passes(module, "fuse-ops{level=0}")
    count = in_place(module)
    for is_planned in (False, True):
        other = module.clone()
        passes = "pack-storage,layout-slices," if is_planned else ""
        run_passes(other, f"{passes}manifest-lifetimes,verify-memory-plan")
        found = list(arrays(evaluate(other, args, memory=Memory(poison=True))))
        same_values(found, wanted, "in place")
        same_in_machine(other, [args], [wanted])
    return count


@exactly(10)
@given(text=modules())
def test_calls_branches_tuples_and_views(text: str):
    module = parse(text)
    x, y = np.arange(4, dtype=np.float32), np.array([1, -1, 2, 0.25], np.float32)
    cases = [[np.array(a), np.array(b), x, y] for a, b in product([False, True], repeat=2)]
    wanted = [evaluate(module, args) for args in cases]
    in_place(module)
    ManifestLifetimesPass().apply(context(), module)
    VerifyMemoryPlanPass().apply(context(), module)
    for args, expected in zip(cases, wanted, strict=True):
        found = evaluate(module, [a.copy() for a in args], memory=Memory(poison=True))
        np.testing.assert_equal(found, expected)
    same_in_machine(module, cases, wanted)
