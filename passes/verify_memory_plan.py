"""
Prove that a memory plan is safe on every path.

    %t = memory.alloc_tensor %s[0] : tensor<8xf32>
    %a = vm.invoke_tvm_op @f … outs(%t …)
    %u = memory.alloc_tensor %s[16] : tensor<8xf32>
    %b = vm.invoke_tvm_op @g … outs(%u …)               <- error: overwrites a tensor that is …
    %c = vm.invoke_tvm_op @h ins(%a, %b …)              <- note: used here

The pass follows what each value names through a body, in program order, without liveness: a value
is *intact* while its bytes hold what was written under its name, and then *ended*, by an op that
overwrites a byte of it or by a kill. Every use of an ended value is a fault; so no two tensors that
are live together overlap. Facts:

- Where contents lie (`plan_check.slots`): numbers are compared exactly, slices of an ordered
  `memory.pack` by its orders. Nothing is searched for: what is not known is an error that says so.
- Which values name them (`plan_check.names`). Overwriting ends every value that may name the
  contents; a kill ends every value that may name the same bytes.
- The lattice: intact below ended. After a choice a value is ended if it is on one of the paths. A
  result of a choice is intact if the value that it was on each path is; so a branch may kill what
  the other one yields.

Also: a storage of static size is within the capacity of its pool; tensors and slices lie in
their storages, aligned; a view that is certainly larger than its tensor is a fault (the machine
checks the others); a tensor is written once on a path; no bytes are killed twice or used after a
kill. An op that reads bytes that it writes is a fault, unless it is a kernel that reads each
element before it writes it (`plan_check.overwriting_kernels`) and both are in one slot.

A call may write all of the storages that it is given: they must not overlap, nothing live may be in
them, and they must be as large and aligned as the callee needs for these arguments, in its calls
too (`plan_check.lent`). A result is in those in which the callee may allocate it.

Not promised: a storage that a function gets from outside the module has the size and alignment that
its tensors need, and does not overlap another. An op other than these that is given a storage is
taken to write all of it. A function that calls itself cannot be given storage. Elements of tuples
and data are not told apart. It shares no code with the passes that plan. Buffers of
programs on memrefs: see `buffer_check`. From level `manifest` or
`memory-planned` to the same.
"""

from collections.abc import Callable
from itertools import chain

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from ..dialects import memory
from ..runtime.program.components import components
from .buffer_check.buffer_checker import BufferChecker, check_buffers
from .bytes.aliases import Functions
from .bytes.numbered import Numbered
from .functions.symbols import modules_in, symbols_of
from .plan_check.checker import Checker
from .plan_check.lent import Checked
from .plan_check.names import nothing, summary
from .support.changes import InspectionPass
from .support.walk import only_block, outside_primitives


def check_module(
    module: ModuleOp,
    new: Callable[..., Checker] = Checker,
    new_of_buffers: Callable[..., BufferChecker] = BufferChecker,
) -> None:
    """Raise an error at the first fault of a plan."""
    for part in modules_in(module):
        kinds = {type(op) for op in outside_primitives(part)}
        if memory.BufferOp in kinds:
            check_buffers(part, new_of_buffers)
        if memory.BufferOp not in kinds or memory.AllocTensorOp in kinds:
            _check_functions(part, new)


def _check_functions(module: ModuleOp, new: Callable[..., Checker]) -> None:
    functions = Functions.of(module)
    kernels = symbols_of(module)
    bodies = {
        name: Numbered(only_block(op), functions.captured, in_place=True)
        for name, op in functions.named.items()
    }
    returned = functions.summarized(
        lambda name: nothing(bodies[name]), lambda name, known: summary(bodies[name], known)
    )
    lent: dict[str, Checked] = {}
    for name in chain.from_iterable(components(functions.calls)):
        blocks = [b for op in functions.closures[name] for part in op.regions for b in part.blocks]
        closures = (Numbered(block, functions.captured, in_place=True) for block in blocks)
        for body in (bodies[name], *closures):
            checker = new(body, returned, kernels, lent)
            if unordered := checker.check():
                checker = new(body, returned, kernels, lent)
                checker.slots.unordered = unordered
                checker.check()
            if body is bodies[name] and name in returned:
                lent[name] = checker.checked()


class VerifyMemoryPlanPass(InspectionPass):
    """Check that no live tensors overlap, and that tensors, views and kills are right."""

    name = "verify-memory-plan"
    accepts = "manifest"

    def inspect(self, ctx: Context, op: ModuleOp) -> None:
        check_module(op)
