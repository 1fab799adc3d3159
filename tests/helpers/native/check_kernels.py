"""
Compile many kernels at once, through linalg and mlir-opt, and call them on arrays.

    kernels = [kernel_of(case("add", 3), "k0"), kernel_of(case("add", 3), "k1", dynamic=True)]
    library = compiled(kernels, tmp_path)
    run(library, "k0", operands, results)         results are written to

`check_cases` compares cases of operators with the independent references of `kernel_references`.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from helpers.native.built_libraries import build_library
from helpers.native.memrefs import bind
from helpers.operators.inferring import OPERATORS
from helpers.operators.kernel_results import compare, garbage
from helpers.operators.operator_cases import Case
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX, FunctionType, ModuleOp, UnitAttr
from xdsl.ir import Block, Region
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects import relay
from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.device import tensor_type
from xrelay.lowering.convert_memory_to_memref import ConvertMemoryToMemrefPass
from xrelay.lowering.convert_relay_to_linalg import ConvertRelayToLinalgPass
from xrelay.lowering.native.build.settings import Settings
from xrelay.lowering.native.toolchain.stages import module_text
from xrelay.runtime.kernels import KERNELS
from xrelay.runtime.program.program import spec_of

Array = Any


def kernel_of(case: Case, name: str, *, dynamic: float = 0.0) -> relay.PrimFuncOp:
    """
    Return a kernel of one operator, that of a case; the share `dynamic` of all dims is unknown.

    Raises `VerifyException` if the operator's rule needs one of these dims.
    """
    rng = np.random.default_rng(case.number)
    types = [
        tensor_type(
            ELEMENT_TYPES[x.dtype.name],
            [DYNAMIC_INDEX if rng.random() < dynamic else d for d in x.shape],
        )
        for x in case.operands
    ]
    if dynamic:  # the length of a shape must be known
        for i in case.fixed:
            x = case.operands[i]
            types[i] = tensor_type(ELEMENT_TYPES[x.dtype.name], list(x.shape))
    block = Block(arg_types=types)
    cls = OPERATORS[case.name]
    op = cls.on(block.args, properties_of(cls, case.attrs))
    block.add_ops([op, relay.YieldOp(*op.results)])
    outputs = [result.type for result in op.results]
    return relay.PrimFuncOp(name, FunctionType.from_lists(types, outputs), Region(block))


def compiled(kernels: Iterable[relay.PrimFuncOp], folder: Path) -> ctypes.CDLL:
    """Convert kernels to linalg on buffers, and compile them to one library in `folder`."""
    module = ModuleOp([*kernels])
    ConvertRelayToLinalgPass(require=True).apply(Context(), module)
    module.verify()
    ConvertMemoryToMemrefPass().apply(Context(), module)
    module.verify()
    for function in module.ops:
        assert isinstance(function, func.FuncOp), "a kernel is a function now"
        function.sym_visibility = None
        function.attributes["llvm.emit_c_interface"] = UnitAttr()
    return ctypes.CDLL(str(build_library(module_text(module), folder / "kernels.so", Settings())))


def run(library: ctypes.CDLL, name: str, ins: Sequence[Array], outs: Sequence[Array]) -> None:
    """Call the kernel `name`, which writes to `outs`."""
    bind(library, name, [*(np.ascontiguousarray(x).reshape(x.shape) for x in ins), *outs])()


def run_in_place(library: ctypes.CDLL, name: str, case: Case, outs: Sequence[Array]) -> None:
    """Run a kernel over each operand that the memory plan may give to its result; compare."""
    reuse = KERNELS[f"relay.{case.name}"].reuse
    for place, operand in enumerate(case.operands):
        if len(outs) != 1 or not reuse.overwrites(spec_of(operand), spec_of(outs[0])):
            continue
        ins = [x.copy() for x in case.operands]
        over = ins[place].view(outs[0].dtype)
        run(library, name, ins, [over])
        assert over.tobytes() == outs[0].tobytes(), f"over operand {place}"


def check_cases(cases: Iterable[Case], folder: Path, *, dynamic: float = 0.0) -> None:
    """
    Compile the operators of all `cases`, and compare their results with the references.

    Cases whose operator's rule needs a dim that is unknown are left out, at most a few.
    """
    kernels: list[relay.PrimFuncOp] = []
    compared: list[Case] = []
    rejected: list[Case] = []
    for case in cases:
        try:
            kernels.append(kernel_of(case, f"k{len(kernels)}", dynamic=dynamic))
        except VerifyException:
            rejected.append(case)
        else:
            compared.append(case)
    assert len(rejected) <= dynamic * len(compared) / 10, rejected
    library = compiled(kernels, folder)
    faults: list[str] = []
    for i, case in enumerate(compared):
        ins, outs = [x.copy() for x in case.operands], [garbage(spec) for spec in case.results]
        run(library, f"k{i}", ins, outs)
        try:
            with np.errstate(all="ignore"):
                compare(case, ins, outs)
            run_in_place(library, f"k{i}", case, outs)
        except AssertionError as error:
            faults.append(f"{case}\n{error}")
    assert not faults, f"{len(faults)} of {len(compared)}:\n" + "\n".join(faults[:20])
