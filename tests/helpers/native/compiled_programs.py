"""
Random programs as users compile and call them: `-p aot -t native`, and `xrelay.load`.

    programs = CompiledPrograms()
    programs.add(module, calls, "seed 3")       False if native code refuses it, with a diagnostic
    programs.check(folder)

All programs are one library. The results are compared with those of the machine, and of the
independent references of `kernel_references`, op by op.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from helpers.operators.kernel_references import REFERENCES
from helpers.operators.kernel_results import as_type, results_of
from helpers.programs.agreement import Array, Outcome, flat, quiet
from helpers.programs.programs import printed
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp, StringAttr, SymbolRefAttr

import xrelay
from xrelay.dialects import relay
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.passes.evaluation.evaluator import Evaluator
from xrelay.passes.support.diagnostics import PassError
from xrelay.tools.opt.opt import main
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.registry import UNIVERSE, named_pipelines


def reference(name: str) -> Callable[..., Callable[[], None]]:
    """Return the reference of an operator as a kernel."""

    def bind(
        attrs: Mapping[str, Any], ins: Sequence[Array], outs: Sequence[Array]
    ) -> Callable[[], None]:
        def run() -> None:
            specs = [(out.shape, out.dtype.name) for out in outs]
            values = results_of(REFERENCES[name].values(attrs, specs, *ins))
            for out, found in zip(outs, values, strict=True):
                out[...] = as_type(found, out.dtype.name)

        return run

    return bind


KERNELS = {f"relay.{name}": reference(name) for name in REFERENCES}


def referenced(module: ModuleOp, args: Sequence[Array]) -> Outcome:
    """Evaluate `main` with the references as kernels."""
    try:
        return flat(tuple(Evaluator(module, {}, kernels=KERNELS).call("main", args)))
    except PassError as error:
        return str(error)


def called(function: xrelay.CompiledFunction, args: Sequence[Array]) -> Outcome:
    try:
        return flat(function(*args))
    except xrelay.MachineError as error:
        return str(error)


def with_prefix(module: ModuleOp, prefix: str) -> None:
    """Rename all functions of a module."""
    names = {op.sym_name.data for op in module.ops if isinstance(op, func.FuncOp)}
    for op in walk(module):
        for key, value in op.properties.items():
            if isinstance(value, SymbolRefAttr) and value.string_value() in names:
                op.properties[key] = SymbolRefAttr(prefix + value.string_value())
        if isinstance(op, func.FuncOp):
            op.sym_visibility = None if op.sym_name.data == "main" else StringAttr("private")
            op.sym_name = StringAttr(prefix + op.sym_name.data)


def close(found: Outcome, wanted: Outcome) -> bool:
    """Test whether results are equal but for rounding, or both are errors."""
    if isinstance(found, str) or isinstance(wanted, str):
        return isinstance(found, str) and isinstance(wanted, str)
    return len(found) == len(wanted) and all(
        (a.dtype, a.shape) == (b.dtype, b.shape)
        and np.allclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
        for a, b in zip(found, wanted, strict=True)
    )


Program: TypeAlias = tuple[str, ModuleOp, Sequence[Sequence[Array]]]
"""The name of a program, the program, and the arguments of calls."""


@dataclass
class CompiledPrograms:
    """Programs that become one library, each with calls."""

    passes: str = "aot"
    machine: str = "vm"
    """The pipelines to machine code, and to bytecode."""
    module: ModuleOp = field(default_factory=lambda: ModuleOp([]))
    programs: list[Program] = field(default_factory=list["Program"])
    refused: list[PassError] = field(default_factory=list[PassError])

    def add(self, module: ModuleOp, calls: Sequence[Sequence[Array]], what: str) -> bool:
        """Add a program at level `relay`, unless native code refuses it."""
        if not self._is_accepted(module):
            return False
        self.add_accepted(module, calls, what)
        return True

    def _is_accepted(self, module: ModuleOp) -> bool:
        lowered = module.clone()
        try:
            for step in build(self.passes, UNIVERSE.all_passes, named_pipelines):
                step.run.apply(quiet(), lowered)
        except PassError as error:
            self.refused.append(error)
            return False
        return True

    def add_accepted(self, module: ModuleOp, calls: Sequence[Sequence[Array]], what: str) -> None:
        """Add a program at level `relay` that native code accepts."""
        renamed = module.clone()
        with_prefix(renamed, f"p{len(self.programs)}_")
        types = {op.sym_name.data for op in self.module.ops if isinstance(op, relay.TypeDataOp)}
        for op in list(renamed.ops):
            op.detach()
            if isinstance(op, relay.TypeDataOp) and op.sym_name.data in types:
                continue  # all are those of Relay's prelude
            self.module.body.block.add_op(op)
        self.programs.append((what, module, calls))

    def check(self, folder: Path) -> None:
        """Compile the programs, call them, and compare the results."""
        source, library = folder / "programs.mlir", folder / "libprograms.so"
        source.write_text(printed(self.module), encoding="utf-8")
        options = ["-p", self.passes, "-t", "native{cpu=native}"]
        assert main([str(source), *options, "-o", str(library)]) == 0
        exe = xrelay.load(library)
        faults: list[str] = []
        for number, (what, module, calls) in enumerate(self.programs):
            machine = xrelay.compile(module, pipeline=self.machine)["main"]
            for i, args in enumerate(calls):
                found, in_machine = called(exe[f"p{number}_main"], args), called(machine, args)
                wanted = self.wanted(module, args, found)
                # The passes of the machine may keep an unused operator that fails, or remove it.
                fails = isinstance(in_machine, str) and not isinstance(found, str)
                if not close(found, wanted) or not (fails or close(found, in_machine)):
                    faults.append(
                        f"{what}, call {i}: {found}, in the machine {in_machine}, not {wanted}\n"
                        f"{printed(module)}"
                    )
        assert not faults, f"{len(faults)} faults\n" + "\n".join(faults[:10])

    def wanted(self, module: ModuleOp, args: Sequence[Array], found: Outcome) -> Outcome:
        """
        Return the outcome by the references.

        Where only these fail, it is that of the program without what passes remove as unused.
        """
        outcome = referenced(module, args)
        if isinstance(outcome, str) and not isinstance(found, str):
            simplified = module.clone()
            passes = self.passes.partition(",plan-devices")[0]
            for step in build(passes, UNIVERSE.all_passes, named_pipelines):
                step.run.apply(quiet(), simplified)
            outcome = referenced(simplified, args)
        return outcome
