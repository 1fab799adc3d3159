"""xDSL's own passes remove, merge and move exactly what the effects permit."""

from collections.abc import Set

import pytest
from helpers.programs.programs import context, parse, printed
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.traits import EffectInstance, MemoryEffectKind, get_effects, is_side_effect_free
from xdsl.transforms.canonicalize import CanonicalizePass
from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from xrelay.passes.support.verifier import verify

DEV = "#relay.device<cpu:0>"
T = f"tensor<4xf32, {DEV}>"
S = f"!memory.storage<{DEV}>"
KERNELS = """
relay.prim_func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}
relay.prim_func @g(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = relay.exp %a : (tensor<4xf32>) -> tensor<4xf32>
  relay.yield %0 : tensor<4xf32>
}"""

CSE, DCE, CANONICALIZE = CommonSubexpressionElimination(), DeadCodeElimination(), CanonicalizePass()
ALL = (CSE, DCE, CANONICALIZE)


def after(passes: tuple[ModulePass, ...], body: str) -> ModuleOp:
    """Run `passes` on a function with `body`, in which `%x` and `%out` are tensors."""
    module = parse(
        f"func.func @main(%x: {T}, %out: {T}, %c: tensor<i1, {DEV}>) {{\n{body}\nfunc.return\n}}"
        f"{KERNELS}"
    )
    verify(module)
    for one in passes:
        one.apply(context(), module)
        verify(module)
    return module


def count(module: ModuleOp, name: str) -> int:
    return sum(op.name == name for op in module.walk())


def use(*names: str) -> str:
    values = ", ".join(names)
    return f'"test.op"({values}) : ({", ".join(T for _ in names)}) -> ()'


HINT = f"%{{}} = relay.on_device %x, {DEV} : ({T}) -> {T}"
STORAGE = f"%{{}} = memory.alloc_storage 16 align 64 : {S}"
TENSOR = f"%{{}} = memory.alloc_tensor %s[0] : {T}"
ON_S = STORAGE.format("s") + "\n" + TENSOR.format("t")
INVOKE = f"%{{}} = vm.invoke_tvm_op @f ins(%x : {T}) outs(%{{}} : {T}) -> {T}"
COPY = f"%{{}} = memory.copy ins(%x : {T}) outs(%{{}} : {T}) -> {T}"
VIEW = f"%{{}} = vm.reshape_tensor %x : ({T}) -> tensor<2x2xf32, {DEV}>"
DEVICE_COPY = f"%{{}} = relay.device_copy %x : {T} to {T}"
CALL = f"%{{}} = relay.call_lowered @f(%x) : ({T}) -> {T}"
OPERATOR = f"%{{}} = relay.tanh %x : ({T}) -> {T}"
PARAM = f'%{{}} = relay.param "w" : {T}'
IF = f"""%{{0}} = relay.if %c : tensor<i1, {DEV}> -> ({T}) {{{{
  relay.yield %x : {T}
}}}} else {{{{
  %{{0}}_y = relay.exp %x : ({T}) -> {T}
  relay.yield %{{0}}_y : {T}
}}}}"""
PRIMITIVE = f"""%{{0}} = relay.primitive(%{{0}}_a = %x : {T}) -> ({T}) {{{{
  %{{0}}_y = relay.exp %{{0}}_a : ({T}) -> {T}
  relay.yield %{{0}}_y : {T}
}}}}"""


@pytest.mark.parametrize("one", ALL, ids=lambda p: p.name)
@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("relay.on_device", HINT),
        ("relay.device_copy", DEVICE_COPY),
        ("relay.call_lowered", CALL),
        ("relay.tanh", OPERATOR),
        ("relay.param", PARAM),
        ("relay.if", IF),
        ("relay.primitive", PRIMITIVE),
        ("vm.reshape_tensor", VIEW),
        ("memory.alloc_storage", STORAGE),
    ],
)
def test_what_nobody_uses_goes(one: ModulePass, name: str, text: str):
    assert count(after((one,), text.format("a")), name) == 0


def test_an_unused_tensor_goes_with_its_storage():
    module = after((DCE,), ON_S)
    assert count(module, "memory.alloc_tensor") == count(module, "memory.alloc_storage") == 0


@pytest.mark.parametrize(
    ("name", "text"),
    [("relay.on_device", HINT), ("memory.alloc_storage", STORAGE), ("memory.alloc_tensor", TENSOR)],
)
def test_what_allocates_is_never_merged(name: str, text: str):
    """Merging hints can cause a conflict; merging allocations would make tensors share memory."""
    first = STORAGE.format("s") if name == "memory.alloc_tensor" else ""
    body = [first, text.format("a"), text.format("b")]
    if name == "relay.on_device":
        body.append(use("%a", "%b"))
    elif name == "memory.alloc_storage":
        body += [f"%t{v} = memory.alloc_tensor %{v}[0] : {T}" for v in "ab"]
        body += [COPY.format(f"y{v}", f"t{v}") for v in "ab"]
    else:
        body += [COPY.format(f"y{v}", v) for v in "ab"]
    assert count(after(ALL, "\n".join(body)), name) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("vm.reshape_tensor", VIEW),
        ("relay.device_copy", DEVICE_COPY),
        ("relay.call_lowered", CALL),
        ("relay.tanh", OPERATOR),
        ("relay.param", PARAM),
    ],
)
def test_what_is_pure_is_merged(name: str, text: str):
    body = "\n".join([text.format("a"), text.format("b"), '"test.op"(%a, %b)'])
    type = "tensor<2x2xf32, #relay.device<cpu:0>>" if text is VIEW else T
    module = after((CSE,), f"{body} : ({type}, {type}) -> ()")
    assert count(module, name) == 1


@pytest.mark.parametrize("text", [INVOKE, COPY])
def test_writes_stay(text: str):
    """The op is unused or duplicated, but the written tensors may be read elsewhere."""
    name = text.split()[2]
    assert count(after(ALL, text.format("y", "out")), name) == 1
    twice = text.format("y", "out") + "\n" + text.format("z", "out")
    assert count(after(ALL, twice), name) == 2


def test_kills_stay():
    body = "\n".join(
        [ON_S, COPY.format("y", "t"), f"memory.kill %t : {T}", f"memory.kill %x : {T}"]
    )
    module = after(ALL, body)
    assert count(module, "memory.kill") == 2
    assert count(module, "memory.alloc_tensor") == 1


def test_a_branch_that_writes_stays():
    body = f"""
relay.if %c : tensor<i1, {DEV}> {{
  {COPY.format("y", "out")}
  relay.yield
}} else {{
}}"""
    module = after(ALL, body)
    assert count(module, "relay.if") == count(module, "memory.copy") == 1


def test_different_kernels_are_not_merged():
    other = CALL.replace("@f", "@g")
    body = "\n".join([CALL.format("a"), other.format("b"), use("%a", "%b")])
    assert count(after((CSE,), body), "relay.call_lowered") == 2


def effects_of(body: str, name: str) -> Set[EffectInstance]:
    op = next(op for op in after((), body).walk() if op.name == name)
    effects = get_effects(op)
    assert effects is not None
    return effects


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (INVOKE, {(MemoryEffectKind.READ, "x"), (MemoryEffectKind.WRITE, "t")}),
        (COPY, {(MemoryEffectKind.READ, "x"), (MemoryEffectKind.WRITE, "t")}),
    ],
)
def test_a_write_reads_its_ins_and_writes_its_outs(
    text: str, wanted: set[tuple[MemoryEffectKind, str]]
):
    effects = effects_of(f"{ON_S}\n{text.format('y', 't')}", text.split()[2])
    found = {(e.kind, getattr(e.value, "name_hint", None)) for e in effects}
    assert found == wanted


@pytest.mark.parametrize("name", ["memory.alloc_storage", "memory.alloc_tensor"])
def test_an_allocation_allocates_its_result(name: str):
    module = after((), ON_S)
    op = next(op for op in module.walk() if op.name == name)
    assert get_effects(op) == {EffectInstance(MemoryEffectKind.ALLOC, op.results[0])}


def test_a_kill_frees_its_operand():
    effects = effects_of(f"memory.kill %x : {T}", "memory.kill")
    assert [e.kind for e in effects] == [MemoryEffectKind.FREE]


def test_shapes_and_views_have_no_effects():
    body = f"%s = vm.shape_of %x : ({T}) -> tensor<1xi64, {DEV}>\n" + VIEW.format("v")
    module = after((), body)
    for op in module.walk():
        if op.name.startswith("vm."):
            assert is_side_effect_free(op)


def test_what_is_used_and_unequal_stays():
    body = "\n".join([ON_S, COPY.format("y", "t"), use("%y"), HINT.format("h"), use("%h")])
    assert printed(after(ALL, body)) == printed(after((), body))
