"""`infer-types` completes IR in which only constants and parameters of functions are typed."""

from pathlib import Path

import pytest
from helpers.relay.relay_programs import context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import CallOp
from xdsl.ir import Attribute

from xrelay.dialects.interfaces import InferTypes, Lookup, TypeEquations
from xrelay.dialects.relay import ClosureOp, ConstructOp, FnOp, GlobalOp, IncompleteType
from xrelay.dialects.type_algebra import parts, rebuild
from xrelay.dialects.xdsl_extras.xdsl_internals import set_type
from xrelay.frontends.relay_text import parse_module
from xrelay.passes import infer_types
from xrelay.passes.functions.unify_types import unify_types
from xrelay.passes.infer_types import refine_types

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*.relay"))


def erase_types(module: ModuleOp) -> int:
    """Make the types of all results that follow from others incomplete; return how many."""
    count = 0
    for op in module.walk():
        follows = op.get_trait(InferTypes) or op.get_trait(TypeEquations) or isinstance(op, CallOp)
        if not follows or isinstance(op, ConstructOp):  # what a constructor makes is named there
            continue
        params = op.body.block.args if isinstance(op, FnOp) else ()
        functions = {*op.results, *params} - {*getattr(op, "params", ())}  # that an op makes
        for value in (*op.results, *params):
            is_function = isinstance(op, FnOp | GlobalOp | ClosureOp) and value in functions
            set_type(value, unknown_function(value.type) if is_function else IncompleteType())
            count += 1
    return count


def unknown_function(type: Attribute) -> Attribute:
    return rebuild(type, [IncompleteType() for _ in parts(type)])


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_types_of_examples_come_back(path: Path):
    module = parse_module(context(), path.read_text(encoding="utf-8"), path.name)
    before = str(module)
    assert erase_types(module) > 1
    assert str(module) != before
    refine_types(module)
    assert str(module) == before


CLOSURES = """#[version = "0.0.5"]
def @twice(%f: fn (Tensor[(4), float32]) -> Tensor[(4), float32], %x: Tensor[(4), float32]) {
  %f(%f(%x))
}
def @main(%x: Tensor[(4), float32], %n: int32) {
  let %r = ref(%x);
  let %loop = fn (%i: int32, %y: Tensor[(4), float32]) -> Tensor[(4), float32] {
    if (%i < %n) { %loop(%i + 1, add(%y, ref_read(%r))) } else { %y }
  };
  let %l = Cons(%x, Cons(%loop(0, %x), Nil));
  let %h = match (%l) { Cons(%a, _) => { (%a, 1f) }, Nil => { (%x, 2f) } };
  %0 = split(%h.0, indices_or_sections=2);
  @twice(fn (%z) { add(%z, concatenate((%0.1, %0.0))) }, %x)
}
"""


def test_types_of_closures_cells_lists_and_matches_come_back():
    module = parse_module(context(), CLOSURES, "closures.relay")
    before = str(module)
    erase_types(module)
    refine_types(module)
    assert str(module) == before


def test_a_chain_of_closures_takes_one_round(monkeypatch: pytest.MonkeyPatch):
    """Each closure's parameter is known once the closure before is called."""
    lets = "".join(
        f"let %f{i} = fn (%a) {{ nn.relu(%a) }}; let %x{i + 1} = %f{i}(%x{i});" for i in range(20)
    )
    text = f'#[version = "0.0.5"]\ndef @main(%x0: Tensor[(4), float32]) {{ {lets} %x20 }}'
    module = parse_module(context(), text, "chain.relay")
    before = str(module)
    erase_types(module)
    rounds: list[ModuleOp] = []

    def counted(module: ModuleOp, lookup: Lookup) -> bool:
        rounds.append(module)
        return unify_types(module, lookup)

    monkeypatch.setattr(infer_types, "unify_types", counted)
    infer_types.refine_types(module)
    assert str(module) == before
    assert len(rounds) == 1
