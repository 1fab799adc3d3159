"""The verifier: its errors, their locations, and its linear time."""

import sys
from collections.abc import Callable

import pytest
from xdsl.context import Context
from xdsl.dialects.arith import Arith, ConstantOp
from xdsl.dialects.builtin import (
    Builtin,
    FileLineColLoc,
    IntAttr,
    ModuleOp,
    StringAttr,
    i32,
)
from xdsl.dialects.cf import Cf
from xdsl.dialects.func import Func
from xdsl.dialects.scf import Scf
from xdsl.dialects.test import Test, TestOp, TestTermOp
from xdsl.ir import Block, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def
from xdsl.parser import Parser
from xdsl.utils.exceptions import VerifyException

from xrelay.dialects.interfaces import Lookup
from xrelay.passes.analysis.dominance import dominated_by
from xrelay.passes.support.verifier import VerifyError, verify


def parse(text: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, Cf, Scf, Arith, Test):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_module()


def failure(wrong: str | ModuleOp) -> str:
    """Return the error of the verifier for `wrong`."""
    module = parse(wrong) if isinstance(wrong, str) else wrong
    with pytest.raises(VerifyError) as raised:
        verify(module)
    return raised.value.message


VALID = {
    "branches to dominated blocks": """
func.func @f(%c: i1, %a: i32) -> i32 {
  %x = "test.op"() : () -> i32
  cf.cond_br %c, ^left, ^right
^left:
  "test.op"(%x) : (i32) -> ()
  cf.br ^join(%x : i32)
^right:
  cf.br ^join(%a : i32)
^join(%y: i32):
  %z = "test.op"(%x, %y) : (i32, i32) -> i32
  func.return %z : i32
}""",
    "a block before the one that dominates it": """
func.func @f() {
  cf.br ^def
^use:
  "test.op"(%x) : (i32) -> ()
  func.return
^def:
  %x = "test.op"() : () -> i32
  cf.br ^use
}""",
    "a loop": """
func.func @f(%c: i1) {
  cf.br ^head
^head:
  %x = "test.op"() : () -> i32
  cf.cond_br %c, ^head, ^exit
^exit:
  "test.op"(%x) : (i32) -> ()
  func.return
}""",
    "anything in a block that is not reached": """
func.func @f() {
  func.return
^dead:
  "test.op"(%x) ({ "test.termop"(%x) : (i32) -> () }) : (i32) -> ()
  %x = "test.op"() : () -> i32
  func.return
}""",
    "outer values in regions, calls both ways": """
func.func @f() {
  %c = arith.constant true
  scf.if %c {
    %x = scf.if %c -> (i1) {
      scf.yield %c : i1
    } else {
      scf.yield %c : i1
    }
    func.call @g(%x) : (i1) -> ()
  }
  func.return
}
func.func @g(%a: i1) {
  func.call @f() : () -> ()
  func.return
}""",
}


@pytest.mark.parametrize("text", VALID.values(), ids=VALID.keys())
def test_valid(text: str):
    verify(parse(text))


INVALID = {
    "use before definition": (
        """
"test.op"(%x) : (i32) -> ()
%x = "test.op"() : () -> i32
""",
        "'test.op' op operand #0 does not dominate this use",
    ),
    "a branch does not dominate the join": (
        """
func.func @f(%c: i1) {
  cf.cond_br %c, ^left, ^join
^left:
  %x = "test.op"() : () -> i32
  cf.br ^join
^join:
  "test.op"(%c, %x) : (i1, i32) -> ()
  func.return
}""",
        "'test.op' op operand #1 does not dominate this use",
    ),
    "its own result in its region": (
        """
%x = "test.op"() ({ "test.termop"(%x) : (i32) -> () }) : () -> i32
""",
        "'test.termop' op operand #0 does not dominate this use",
    ),
    "through an op isolated from above": (
        """
%x = "test.op"() : () -> i32
func.func @f() {
  "test.op"(%x) : (i32) -> ()
  func.return
}""",
        "'test.op' op operand #0 is defined outside of 'func.func', which is isolated from above",
    ),
    "no terminator": (
        """
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
  "test.op"() : () -> ()
}) : () -> ()""",
        "'test.op' op ends a block, but is not a terminator",
    ),
    "an empty block": (
        """
"func.func"() <{sym_name = "f", function_type = () -> ()}> ({
^bb0:
}) : () -> ()""",
        "'func.func' op has an empty block; it needs at least a terminator",
    ),
    "a callee that is missing": (
        'func.func @f() {\n  "func.call"() <{callee = @g}> : () -> ()\n  func.return\n}',
        "'func.call' op '@g' could not be found in symbol table",
    ),
    "a callee of another type": (
        """
func.func private @g(i32)
func.func @f(%x: i64) {
  "func.call"(%x) <{callee = @g}> : (i64) -> ()
  func.return
}""",
        "'func.call' op operand type mismatch: expected operand type i32, but provided "
        "i64 for operand number 0",
    ),
    "a callee with fewer results": (
        """
func.func private @g()
func.func @f() {
  %x = "func.call"() <{callee = @g}> : () -> i32
  func.return
}""",
        "'func.call' op incorrect number of results for callee: '@g' has 0, but the call has 1",
    ),
    "what the definition of the op says": (
        '"arith.addi"() : () -> i32',
        "'arith.addi' op Expected 2 operands, but got 0",
    ),
}


@pytest.mark.parametrize(("text", "message"), INVALID.values(), ids=INVALID.keys())
def test_invalid(text: str, message: str):
    assert failure(text) == message


@pytest.mark.parametrize("kind", ["result", "argument"])
def test_values_of_a_sibling_region(kind: str):
    value = TestOp(result_types=[i32])
    first = Block([value, TestTermOp()], arg_types=[i32])
    operand = value.results[0] if kind == "result" else first.args[0]
    second = Block([TestTermOp(operands=[operand])])
    op = TestOp(regions=[Region(first), Region(second)])
    assert failure(ModuleOp([op])) == (
        "'test.termop' op operand #0 is defined in a region that does not enclose this use"
    )


def test_values_of_ops_that_are_gone():
    gone = TestOp(result_types=[i32])
    user = TestOp(operands=[gone.results[0]])
    assert failure(ModuleOp([user])) == (
        "'test.op' op operand #0 is defined by an op that is not in the IR"
    )
    module = ModuleOp([gone, user := TestOp(operands=[gone.results[0]])])
    gone.detach()
    gone.erase(safe_erase=False)
    assert failure(module) == "'test.op' op operand #0 has been erased"


def test_branch_into_another_region():
    target = Block([TestOp()])
    text = "func.func @f() {\n cf.br ^a\n^a:\n func.return\n}"
    module = parse(text)
    func = module.body.block.first_op
    assert func is not None
    branch = func.regions[0].blocks[0].last_op
    assert branch is not None
    branch.successors = [target]
    assert failure(module) == "'cf.br' op branches to a block of another region"


def test_points_at_the_op_and_at_the_definition():
    def at(line: int) -> FileLineColLoc:
        return FileLineColLoc(StringAttr("f"), IntAttr(line), IntAttr(1))

    late = TestOp(result_types=[i32])
    user = TestOp(operands=[late.results[0]])
    late.location, user.location = at(2), at(1)
    with pytest.raises(VerifyError) as raised:
        verify(ModuleOp([user, late]))
    assert raised.value.location == at(1)
    assert [(n.message, n.location) for n in raised.value.notes] == [
        ("operand defined here", at(2))
    ]


@irdl_op_definition
class RefersOp(IRDLOperation):
    name = "house.refers"
    to = prop_def(StringAttr)

    def verify_symbol_uses(self, lookup: Lookup) -> None:
        if lookup(self.to.data) is None:
            raise VerifyException(f"refers to '@{self.to.data}', which is missing")


def test_ops_look_symbols_up_through_the_verifier():
    def refers(name: str) -> Operation:
        return RefersOp(properties={"to": StringAttr(name)})

    module = parse("func.func @here() { func.return }")
    module.body.block.add_op(refers("here"))
    verify(module)
    module.body.block.add_op(refers("there"))
    assert failure(module) == ("'house.refers' op refers to '@there', which is missing")


@pytest.mark.ci
def test_deep_nesting_does_not_recurse():
    """Twice the default recursion limit; the op definitions are not recursive."""
    value = ConstantOp.from_int_and_width(0, i32)
    inner: list[Operation] = [TestOp(operands=[value.result])]
    for _ in range(2000):
        inner = [TestOp(regions=[Region(Block([*inner, TestTermOp()]))])]
    verify(ModuleOp([value, *inner]))


def calls_made(text: str) -> int:
    """Count the Python functions called to verify the program: a measure independent of clocks."""
    module, count = parse(text), 0

    def counting(frame: object, event: str, arg: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(counting)
    try:
        verify(module)
    finally:
        sys.setprofile(None)
    return count


def many_blocks(n: int) -> str:
    lines = (f"^b{i}:\n  cf.br ^b{i + 1}\n" for i in range(n))
    return f"func.func @f() {{\n  cf.br ^b0\n{''.join(lines)}^b{n}:\n  func.return\n}}"


def many_calls(n: int) -> str:
    funcs = (f"func.func @f{i}() {{ func.return }}\n" for i in range(n))
    calls = (f"  func.call @f{i}() : () -> ()\n" for i in range(n))
    return f"{''.join(funcs)}func.func @main() {{\n{''.join(calls)}  func.return\n}}"


@pytest.mark.ci
@pytest.mark.parametrize("text", [many_blocks, many_calls])
def test_is_linear(text: Callable[[int], str]):
    """Four times the input takes about four times the work, not 16 times."""
    assert calls_made(text(400)) < 4.5 * calls_made(text(100))


def test_dominators_of_a_diamond_with_a_loop():
    module = parse("""
func.func @f(%c: i1) {
  cf.cond_br %c, ^a, ^b
^a:
  cf.br ^join
^b:
  cf.cond_br %c, ^b, ^join
^join:
  func.return
}""")
    func = module.body.block.first_op
    assert func is not None
    entry, a, b, join = func.regions[0].blocks
    tree = dominated_by(entry)
    assert set(tree[entry]) == {a, b, join}
    assert tree[a] == tree[b] == tree[join] == []


@pytest.mark.parametrize("is_outside", [False, True])
def test_an_unreachable_op_uses_nothing_from_outside_of_what_is_isolated(is_outside: bool):
    module = parse("""
        %outside = arith.constant 1 : i32
        func.func @f() {
          %inside = arith.constant 2 : i32
          func.return
        ^unreachable:
          "test.op"(%inside) : (i32) -> ()
          func.return
        }
    """)
    outside, user = module.body.block.first_op, next(o for o in module.walk() if o.operands)
    assert outside is not None
    if not is_outside:
        verify(module)
        return
    user.operands[0] = outside.results[0]
    assert "test.op" in failure(module)
