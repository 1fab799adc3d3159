"""Read the text that `mlir-opt` prints of upstream dialects, without unregistered ops."""

import mmap
import re
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

from xrelay.lowering.native.toolchain.tool_paths import tool
from xrelay.tools.opt import opt

FORMS = Path(__file__).parent.parent / "data" / "foreign" / "forms.mlir"


@cache
def mlir_opt(text: str, *options: str) -> str:
    """Return what `mlir-opt` prints of `text`, part by part."""
    command = [tool("mlir-opt"), "--split-input-file", *options]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "options",
    [
        pytest.param([], id="custom"),
        pytest.param(["--mlir-print-op-generic"], id="generic", marks=pytest.mark.ci),
    ],
)
def test_each_form_is_read_and_printed(options: list[str], tmp_path: Path):
    text = mlir_opt(FORMS.read_text(), *options)
    source, printed = tmp_path / "in.mlir", tmp_path / "out.mlir"
    source.write_text(text)
    assert opt.main([str(source), "--split-input-file", "-o", str(printed)]) == 0
    assert mlir_opt(printed.read_text()) == mlir_opt(text)


WORDS = """
    alignment arg_attrs branch_weights callee case_operand_segments case_values cases cast condition
    constant dilations dimension dimensions disjoint doc fastmath fmr function_type indexing_maps
    inner_dims_pos isDataCache isExact isWrite iterator_types kind library_call localityHint
    lowerBoundMap lowerBoundsGroups lowerBoundsMap map mapping msg name no_inline nontemporal
    outer_dims_perm overflowFlags permutation predicate reassociation reductions res_attrs
    roundingmode staticLowerBound staticStep staticUpperBound static_basis static_inner_tiles
    static_offsets static_output_shape static_sizes static_strides step steps strides sym_name
    sym_visibility type unsignedCmp upperBoundMap upperBoundsGroups upperBoundsMap value
""".split()
"""Of 4,400 words in `libMLIR.so`, and others that came to mind, those that `mlir-opt` 22 has as a
property of some op."""


@cache
def names_of_ops() -> frozenset[str]:
    """Return the ops of the seven dialects that `mlir-opt` knows."""
    library = Path(tool("mlir-opt")).parents[1] / "lib" / "libMLIR.so"
    word = rb"\0((?:memref|scf|cf|func|arith|affine|linalg)\.[a-z_0-9.]+)(?=\0)"
    with library.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        names = {name.decode() for name in re.findall(word, data)}
    errors = errors_of([f"{name} =" for name in sorted(names)])
    return frozenset(names - {*re.findall("custom op '(.*)' is unknown", errors)})


def errors_of(parts: Iterable[str]) -> str:
    command = [tool("mlir-opt"), "--split-input-file"]
    text = "\n// -----\n".join(parts)
    return subprocess.run(command, input=text, capture_output=True, text=True).stderr


@pytest.mark.ci
def test_each_op_of_the_seven_dialects_is_among_the_forms():
    forms = mlir_opt(FORMS.read_text(), "--mlir-print-op-generic")
    ops = names_of_ops()
    assert len(ops) > 200
    assert not ops - {*re.findall(r'"([a-z]+\.[\w.]+)"[ (]', forms)}


@pytest.mark.ci
def test_each_property_of_the_seven_dialects_is_among_the_forms():
    found, pending = dict[str, set[str]](), {*names_of_ops()}
    while pending:  # each error names one property that is no array of floats
        words = {op: [word for word in WORDS if word not in found.get(op, ())] for op in pending}
        wrong = {op: ", ".join(f"{word} = array<f32: 1.0>" for word in words[op]) for op in words}
        errors = errors_of(f'"{op}"() <{{{wrong[op]}}}> : () -> ()' for op in wrong)
        named = re.findall(r"for op (\S+): Invalid attribute `(\w+)` in property", errors)
        pending = {op for op, _ in named}
        for op, word in named:
            found.setdefault(op, set()).add(word)
    forms = mlir_opt(FORMS.read_text(), "--mlir-print-op-generic")
    for op, text in re.findall(r'"([a-z]+\.[\w.]+)"\([^\n]*?<\{(.*?)\}>', forms):
        found[op] = found.get(op, set()) - {*re.findall(r"(\w+)(?= =|[,}]|$)", text)}
    assert len(found) > 120
    assert not {op: words for op, words in found.items() if words}
