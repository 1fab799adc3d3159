"""
Mutants of the house: faults that were mended, as replacements of text that bring them back.

Each names the tests that must fail with it, general ones first. `tests/test_mutants.py` holds the
table against the sources: what is replaced stands there once.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A fault that was mended, and how to bring it back."""

    name: str
    fault: str
    """The fault as users saw it."""
    file: str
    """The file, from the root of the checkout, in which `old` is replaced by `new`."""
    old: str
    new: str
    nets: tuple[str, ...]
    """Arguments of pytest, each for the tests of one net, which pass without the mutant."""


NUMBERS = "tests/test_numbers.py::test_all_levels_compute_the_definition"
SHAPES = "tests/test_numbers.py::test_shape_evaluation_computes_the_definition"
PLUGIN = "tests/test_plugin.py -k 'effects and often'"
LEVELS = "tests/passes/test_levels.py"


def golden(path: str) -> str:
    """Return the net that is the golden test at `path` in `lit_tests`."""
    return f"tests/test_lit.py::test_lit[{path}]"


MUTANTS = (
    Mutant(
        "div-least-integer",
        "folding divides the least integer as if it had an absolute value",
        "frontends/onnx/convert/folding.py",
        "            KERNELS[op.name](plain_attributes(op), operands, results)()\n",
        "            KERNELS[op.name](plain_attributes(op), operands, results)()\n"
        '            if op.name == "relay.divide" and results[0].dtype.kind == "i":\n'
        "                x, y = operands\n"
        "                quotient = np.abs(x) // np.abs(y)\n"
        "                results[0][...] = np.where((x < 0) != (y < 0), -quotient, quotient)\n",
        ("tests/frontends/onnx/test_folding.py",),
    ),
    Mutant(
        "cast-in-machine",
        "a cast of floats out of range depends on the place in the array",
        "runtime/kernels/conversions.py",
        "_Truncation(x.dtype, y.dtype, block) if to_integers else _copy_unsafe",
        "_copy_unsafe",
        (NUMBERS, "tests/test_float_casts.py::test_in_the_machine_at_every_length"),
    ),
    Mutant(
        "cast-in-linalg",
        "compiled code casts NaN to the least integer",
        "lowering/linalg/numbers.py",
        "        return integer if unsigned else x.is_nan().select(0, integer)\n",
        "        return integer\n",
        (NUMBERS, "tests/test_float_casts.py::test_in_native_kernels"),
    ),
    Mutant(
        "prelu-infinite",
        "prelu of a positive number with an infinite slope is NaN",
        "operators/broadcast.py",
        "    return (x > 0).select(x, scaled)\n",
        '    least, most = (x.apply(name, x.constant(0)) for name in ("minimum", "maximum"))\n'
        "    return most + least * alpha\n",
        (NUMBERS,),
    ),
    Mutant(
        "shape-cast-uint64",
        "a cast of a uint64 that i64 cannot hold is a known size",
        "passes/sizes/shape_tensors.py",
        "    if not isinstance(type, IntegerType):\n        return False\n    integer = cast(",
        "    if type == i64:\n        return True\n"
        "    if not isinstance(type, IntegerType):\n        return False\n    integer = cast(",
        (SHAPES,),
    ),
    Mutant(
        "effects-folded",
        "fold-constants runs an operator with effects",
        "passes/fold_constants.py",
        "not computable(op) or has_effects(op):",
        "not computable(op):",
        (PLUGIN,),
    ),
    Mutant(
        "effects-removed",
        "remove-dead-writes removes an operator with effects",
        "passes/remove_dead_writes.py",
        "    if op.has_trait(KernelEffects) and KernelEffects.has_any(op):\n        return False\n",
        "",
        (PLUGIN, golden("passes/remove-dead-writes/remove.mlir")),
    ),
    Mutant(
        "effects-fused",
        "fuse-ops merges an operator with effects into a kernel",
        "passes/analysis/fusion.py",
        "if alone or has_effects(op) else",
        "if alone else",
        (PLUGIN,),
    ),
    Mutant(
        "swaps-share",
        "results that choices exchange are taken for one another, and a right plan is refused",
        "passes/plan_check/names.py",
        "is_one = choice is not None and choice == self._choices.get(earlier)",
        "is_one = False",
        (
            golden("passes/verify-memory-plan/swapped.mlir"),
            "tests/passes/test_sharing.py",
        ),
    ),
    Mutant(
        "select-in-formulas",
        "formulas of memory reports have a made-up variable for a size that a comparison selects",
        "passes/memory_report/formulas.py",
        "return symbol.is_computed and symbol.kind in OPERATIONS",
        "return symbol.is_computed and symbol.kind in OPERATIONS and symbol.kind != SELECT",
        (
            "tests/passes/test_memory_use.py -k 'several_orders or formulas'",
            golden("passes/report-memory/selected.mlir"),
        ),
    ),
    Mutant(
        "level-not-checked",
        "a pass on a program of an earlier level does nothing and succeeds",
        "passes/support/reached.py",
        "            require_no_earlier(module, level)\n",
        "",
        (LEVELS,),
    ),
    Mutant(
        "symbol-without-schedule",
        "a kernel of another schedule is taken from the cache, or by the linker",
        "lowering/native/build/units.py",
        'key_of("kernel", text, *how, *passes)[:32]',
        'key_of("kernel", text)[:32]',
        ("tests/lowering/native/test_kernels.py -k 'symbols or changed'",),
    ),
    Mutant(
        "foreign-bools",
        "bools that view foreign bytes leave a program as neither 0 nor 1",
        "runtime/calls/values.py",
        "        np.not_equal(source.view(np.uint8), 0, out=target)\n",
        "        target[...] = source\n",
        ("tests/runtime/test_machine.py -k bools",),
    ),
    Mutant(
        "input-without-end",
        "a device without an end is read until memory is full",
        "runtime/files.py",
        "while len(data) <= limit and (piece := stream.read(min(_CHUNK, limit + 1 - len(data)))):",
        "while piece := stream.read(_CHUNK):",
        ("tests/tools/test_streams.py::test_stdin_without_an_end",),
    ),
    Mutant(
        "result-not-charged",
        "a result that shares parts is unfolded whatever the memory limit",
        "runtime/calls/values.py",
        "                charge(unfolded_size(result, fields_of), owner)\n",
        "",
        ("tests/runtime/test_hostile.py -k 'result_is_counted'",),
    ),
    Mutant(
        "anonymous-dims",
        "all dims that a model calls '?' are one size",
        "frontends/onnx/model/onnx_model.py",
        'dim.dim_param if is_name(dim.dim_param) else ""',
        "dim.dim_param",
        ("tests/tools/test_inputs_of_models.py -k unknown_has_no_name",),
    ),
    Mutant(
        "attributes-repeated",
        "text whose attributes repeat expressions, as arange's do, is refused",
        "frontends/relay_text/json/node_graph.py",
        "        return Unread(key)\n",
        '        raise GraphError(f"a {key} (node {number}) is not supported here")\n',
        ("tests/frontends/relay_text/test_metadata.py",),
    ),
    Mutant(
        "storage-without-shape",
        "alloc_storage is printed with the operands of TVM 0.13, which later ones refuse",
        "frontends/relay_text/print/printer_memory.py",
        'shown = [size, shape, f"{op.alignment.value.data}i64"]',
        'shown = [size, f"{op.alignment.value.data}i64"]',
        (golden("frontends/relay_text/print-memory.mlir"),),
    ),
    Mutant(
        "references-left",
        "gradients whose references hold no tensors are not lowered",
        "lowering/lower_to_bytecode.py",
        "isinstance(type, TupleType | FunctionType | relay.RefType)",
        "isinstance(type, TupleType | FunctionType)",
        ("tests/lowering/test_relay_programs_in_machine.py",),
    ),
    Mutant(
        "formula-of-any-integer",
        "numbers in formulas of weights that 64 bits cannot hold are an internal error",
        "runtime/weights/weight_formulas.py",
        "        _require_64_bits(value)\n    if isinstance(value, int | float | str):",
        "        pass\n    if isinstance(value, int | float | str):",
        ("tests/runtime/test_derived_weights.py",),
    ),
    Mutant(
        "plugin-kernel-native",
        "an operator of a plug-in without a linalg rule, alone in its kernel, is not compiled",
        "lowering/memref/functions_and_kernels.py",
        "    if op.has_operators:\n",
        '    if any(o.name.startswith("relay.") for o in list(op.body.block.ops)[:-1]):\n',
        ("tests/test_plugin.py -k native",),
    ),
)
