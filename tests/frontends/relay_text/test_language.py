"""The IR of each construct of the text."""

# ruff: noqa: E501 (tables)

import pytest
from helpers.relay.relay_programs import body_of, error_of, ir_of, read
from xdsl.dialects.builtin import FileLineColLoc, StringAttr
from xdsl.dialects.func import FuncOp

from xrelay.dialects.relay.language.annotations import ATTRS
from xrelay.frontends.relay_text.print.printer import module_text


def lines(text: str) -> str:
    """`text` without the indentation of the test."""
    rows = text.strip("\n").split("\n")
    indent = min(len(row) - len(row.lstrip()) for row in rows if row.strip())
    return "\n".join(row[indent:] for row in rows).rstrip()


CASES = {
    "let": (
        "def @main(%x: Tensor[(2), float32]) { let %y = nn.relu(%x); add(%y, %y) }",
        """
        %y = relay.nn.relu %x : (tensor<2xf32>) -> tensor<2xf32>
        %0 = relay.add %y, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        func.return %0 : tensor<2xf32>
        """,
    ),
    "let shadows": (
        "def @main(%x: int32) { %0 = %x * %x; let %x = 1; %x + %0 }",
        """
        %0 = relay.multiply %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %x_1 = relay.constant dense<1> : tensor<i32>
        %1 = relay.add %x_1, %0 : (tensor<i32>, tensor<i32>) -> tensor<i32>
        func.return %1 : tensor<i32>
        """,
    ),
    "a let in an argument": (
        "def @main(%x: int32) { %x + (let %y = 1; %y) }",
        """
        %y = relay.constant dense<1> : tensor<i32>
        %0 = relay.add %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
        func.return %0 : tensor<i32>
        """,
    ),
    "lets as the values of others": (
        """
        def @main(%x: int32) {
          let %a = let %b = %x + %x;
          %0 = %b * %b;
          let %c = let %d = %0; negative(%d);
          %c + %b;
          %1 = let %e = %a; exp(cast(%e, dtype="float32"));
          (%1, %a - let %f = %a; %f)
        }
        """,
        """
        %b = relay.add %x, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %d = relay.multiply %b, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %c = relay.negative %d : (tensor<i32>) -> tensor<i32>
        %a = relay.add %c, %b : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %0 = relay.cast %a {dtype = f32} : (tensor<i32>) -> tensor<f32>
        %1 = relay.exp %0 : (tensor<f32>) -> tensor<f32>
        %2 = relay.subtract %a, %a : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %3 = relay.tuple %1, %2 : (tensor<f32>, tensor<i32>) -> tuple<tensor<f32>, tensor<i32>>
        func.return %3 : tuple<tensor<f32>, tensor<i32>>
        """,
    ),
    "infix operators": (
        "def @main(%x: int32) { 1 + 2 * %x - 3 < 4 == True }",
        """
        %0 = relay.constant dense<1> : tensor<i32>
        %1 = relay.constant dense<2> : tensor<i32>
        %2 = relay.multiply %1, %x : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %3 = relay.add %0, %2 : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %4 = relay.constant dense<3> : tensor<i32>
        %5 = relay.subtract %3, %4 : (tensor<i32>, tensor<i32>) -> tensor<i32>
        %6 = relay.constant dense<4> : tensor<i32>
        %7 = relay.less %5, %6 : (tensor<i32>, tensor<i32>) -> tensor<i1>
        %8 = relay.constant dense<true> : tensor<i1>
        %9 = relay.equal %7, %8 : (tensor<i1>, tensor<i1>) -> tensor<i1>
        func.return %9 : tensor<i1>
        """,
    ),
    "literals": (
        "def @main() { (1, -2i64, --3, 1.5f, -0f, 2f16, 3f64, -inff, False) }",
        """
        %0 = relay.constant dense<1> : tensor<i32>
        %1 = relay.constant dense<-2> : tensor<i64>
        %2 = relay.constant dense<3> : tensor<i32>
        %3 = relay.constant dense<1.500000e+00> : tensor<f32>
        %4 = relay.constant dense<-0.000000e+00> : tensor<f32>
        %5 = relay.constant dense<2.000000e+00> : tensor<f16>
        %6 = relay.constant dense<3.000000e+00> : tensor<f64>
        %7 = relay.constant dense<0xff800000> : tensor<f32>
        %8 = relay.constant dense<false> : tensor<i1>
        %9 = relay.tuple %0, %1, %2, %3, %4, %5, %6, %7, %8 : """
        "(tensor<i32>, tensor<i64>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f16>, "
        "tensor<f64>, tensor<f32>, tensor<i1>) -> tuple<tensor<i32>, tensor<i64>, tensor<i32>, "
        "tensor<f32>, tensor<f32>, tensor<f16>, tensor<f64>, tensor<f32>, tensor<i1>>"
        """
        func.return %9 : tuple<tensor<i32>, tensor<i64>, tensor<i32>, tensor<f32>, """
        "tensor<f32>, tensor<f16>, tensor<f64>, tensor<f32>, tensor<i1>>",
    ),
    "tuples and projections": (
        "def @main(%p: (int32, (float32,))) { %0 = %p.1; (%p.1.0, %0.0, ()) }",
        """
        %0 = relay.tuple_get_item %p[1] : (tuple<tensor<i32>, tuple<tensor<f32>>>) """
        "-> tuple<tensor<f32>>"
        """
        %1 = relay.tuple_get_item %p[1] : (tuple<tensor<i32>, tuple<tensor<f32>>>) """
        "-> tuple<tensor<f32>>"
        """
        %2 = relay.tuple_get_item %1[0] : (tuple<tensor<f32>>) -> tensor<f32>
        %3 = relay.tuple_get_item %0[0] : (tuple<tensor<f32>>) -> tensor<f32>
        %4 = relay.tuple : () -> tuple<>
        %5 = relay.tuple %2, %3, %4 : (tensor<f32>, tensor<f32>, tuple<>) """
        "-> tuple<tensor<f32>, tensor<f32>, tuple<>>"
        """
        func.return %5 : tuple<tensor<f32>, tensor<f32>, tuple<>>
        """,
    ),
    "references in sequence": (
        "def @main(%r: ref(int32)) { ref_write(%r, 1); ref_read(%r) }",
        """
        %0 = relay.constant dense<1> : tensor<i32>
        %1 = relay.ref_write %r, %0 : (!relay.ref<tensor<i32>>, tensor<i32>) -> tuple<>
        %2 = relay.ref_read %r : (!relay.ref<tensor<i32>>) -> tensor<i32>
        func.return %2 : tensor<i32>
        """,
    ),
    "a graph binding is computed where it is needed": (
        "def @main(%r: ref(int32)) { %0 = ref_read(%r); ref_write(%r, 1); %0 }",
        """
        %0 = relay.constant dense<1> : tensor<i32>
        %1 = relay.ref_write %r, %0 : (!relay.ref<tensor<i32>>, tensor<i32>) -> tuple<>
        %2 = relay.ref_read %r : (!relay.ref<tensor<i32>>) -> tensor<i32>
        func.return %2 : tensor<i32>
        """,
    ),
    "a binding that nothing uses is not there": (
        "def @main(%x: int32) { %0 = %x + 1; %1 = %0 + 2; %x }",
        """
        func.return %x : tensor<i32>
        """,
    ),
    "a closure that captures": (
        "def @main(%f: fn (int32) -> int32, %y: int32) { fn (%x) { %f(%x) + %y } }",
        """
        %0 = relay.fn (%x: tensor<i32>) -> tensor<i32> {
          %1 = relay.call %f(%x) : (tensor<i32>) -> tensor<i32>
          %2 = relay.add %1, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
          relay.yield %2 : tensor<i32>
        }
        func.return %0 : (tensor<i32>) -> tensor<i32>
        """,
    ),
    "curried calls": (
        "def @main(%f: fn (int32) -> fn (int32) -> int32) { %f(1)(2) }",
        """
        %0 = relay.constant dense<1> : tensor<i32>
        %1 = relay.call %f(%0) : (tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)
        %2 = relay.constant dense<2> : tensor<i32>
        %3 = relay.call %1(%2) : (tensor<i32>) -> tensor<i32>
        func.return %3 : tensor<i32>
        """,
    ),
    "a closure that calls itself": (
        """
        def @main(%n: int32) {
          let %f = fn (%i: int32) -> int32 { if (%i == 0) { %i } else { %f(%i - 1) } };
          %f(%n)
        }
        """,
        """
        %f = relay.fn rec(%f_1) (%i: tensor<i32>) -> tensor<i32> {
          %0 = relay.constant dense<0> : tensor<i32>
          %1 = relay.equal %i, %0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %2 = relay.if %1 : tensor<i1> -> (tensor<i32>) {
            relay.yield %i : tensor<i32>
          } else {
            %3 = relay.constant dense<1> : tensor<i32>
            %4 = relay.subtract %i, %3 : (tensor<i32>, tensor<i32>) -> tensor<i32>
            %5 = relay.call %f_1(%4) : (tensor<i32>) -> tensor<i32>
            relay.yield %5 : tensor<i32>
          }
          relay.yield %2 : tensor<i32>
        }
        %6 = relay.call %f(%n) : (tensor<i32>) -> tensor<i32>
        func.return %6 : tensor<i32>
        """,
    ),
    "function attributes": (
        'def @main(%x: int32) { fn (%y: int32, Primitive=1, relay.tag="a\\"b") { %y } }',
        """
        %0 = relay.fn (%y: tensor<i32>) -> tensor<i32> attributes """
        '{attrs = {Primitive = 1 : i64, relay.tag = "a\\22b"}} {'
        """
          relay.yield %y : tensor<i32>
        }
        func.return %0 : (tensor<i32>) -> tensor<i32>
        """,
    ),
    "an operator as a value": (
        "def @main(%x: int32) { let %f = add; %f(%x, %x) }",
        """
        %f = relay.fn (%0: tensor<i32>, %1: tensor<i32>) -> tensor<i32> {
          %2 = relay.add %0, %1 : (tensor<i32>, tensor<i32>) -> tensor<i32>
          relay.yield %2 : tensor<i32>
        }
        %3 = relay.call %f(%x, %x) : (tensor<i32>, tensor<i32>) -> tensor<i32>
        func.return %3 : tensor<i32>
        """,
    ),
    "a constructor as a value": (
        "type Box[A] { Full(A) }\ndef @main(%x: int32) { let %f = Full; %f(%x) }",
        """
        %f = relay.fn (%0: tensor<i32>) -> !relay.adt<@Box, [tensor<i32>]> {
          %1 = relay.construct @Full(%0) : (tensor<i32>) -> !relay.adt<@Box, [tensor<i32>]>
          relay.yield %1 : !relay.adt<@Box, [tensor<i32>]>
        }
        %2 = relay.call %f(%x) : (tensor<i32>) -> !relay.adt<@Box, [tensor<i32>]>
        func.return %2 : !relay.adt<@Box, [tensor<i32>]>
        """,
    ),
    "match": (
        """
        type Two { A(int32, int32), B, C() }
        def @main(%v: (Two, int32)) {
          match? (%v) { (A(%x, _), %y) => %x + %y, (B, %y) => %y, (C, _) => { let %z = 1; %z }, }
        }
        """,
        """
        %0 = relay.match partial %v : tuple<!relay.adt<@Two, []>, tensor<i32>> -> (tensor<i32>) {
          case (@Two::@A(%x: tensor<i32>, _), %y: tensor<i32>) {
            %1 = relay.add %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i32>
            relay.yield %1 : tensor<i32>
          }
          case (@Two::@B(), %y_1: tensor<i32>) {
            relay.yield %y_1 : tensor<i32>
          }
          case (@Two::@C(), _) {
            %z = relay.constant dense<1> : tensor<i32>
            relay.yield %z : tensor<i32>
          }
        }
        func.return %0 : tensor<i32>
        """,
    ),
    "generic functions": (
        "def @id[A](%x: A) -> A { %x }\ndef @main(%f: fn (int32) -> int32) { @id(%f)(@id(1)) }",
        """
        %0 = relay.invoke @id<[(tensor<i32>) -> tensor<i32>]>(%f) : """
        "((tensor<i32>) -> tensor<i32>) -> ((tensor<i32>) -> tensor<i32>)"
        """
        %1 = relay.constant dense<1> : tensor<i32>
        %2 = relay.invoke @id<[tensor<i32>]>(%1) : (tensor<i32>) -> tensor<i32>
        %3 = relay.call %0(%2) : (tensor<i32>) -> tensor<i32>
        func.return %3 : tensor<i32>
        """,
    ),
    "a global function as a value": (
        "def @f(%x: int32) -> int32 { %x }\n"
        "def @id[A](%x: A) -> A { %x }\n"
        "def @main() { (@f, if (True) { @id } else { @f }) }",
        """
        %0 = relay.global @f : (tensor<i32>) -> tensor<i32>
        %1 = relay.constant dense<true> : tensor<i1>
        %2 = relay.if %1 : tensor<i1> -> ((tensor<i32>) -> tensor<i32>) {
          %3 = relay.global @id<[tensor<i32>]> : (tensor<i32>) -> tensor<i32>
          relay.yield %3 : (tensor<i32>) -> tensor<i32>
        } else {
          %4 = relay.global @f : (tensor<i32>) -> tensor<i32>
          relay.yield %4 : (tensor<i32>) -> tensor<i32>
        }
        %5 = relay.tuple %0, %2 : ((tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>) """
        "-> tuple<(tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>>"
        """
        func.return %5 : tuple<(tensor<i32>) -> tensor<i32>, (tensor<i32>) -> tensor<i32>>
        """,
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_construct(case: str) -> None:
    text, expected = CASES[case]
    assert body_of(text) == lines(expected)


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ("fn (%x: int32) { %x }", "func.func @main(%x: tensor<i32>) -> tensor<i32> {"),
        (
            "free_var %x: int32; free_var %y: int32; %x + %y",
            "func.func @main(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {",
        ),
        ("def @main() { () }", "func.func @main() -> tuple<> {"),
        (
            'def @main(%x: int32, Primitive=1, hash="0a", none=None, many=[1, 2]) { %x }',
            "func.func @main(%x: tensor<i32>) -> tensor<i32> attributes {relay.attrs = "
            '{Primitive = 1 : i64, hash = "0a", none = none, many = [1 : i64, 2 : i64]}} {',
        ),
        (
            "def @main[A, B](%x: A, %y: fn (A) -> B) -> B { %y(%x) }",
            "func.func @main(%x: !relay.type_var<A>, "
            "%y: (!relay.type_var<A>) -> !relay.type_var<B>) "
            '-> !relay.type_var<B> attributes {relay.type_params = ["A", "B"]} {',
        ),
        (
            "def @main(%t: Tensor[(?, 2i64), uint8], %u: (), %v: (bool), %w: bfloat16) { %t }",
            "func.func @main(%t: tensor<?x2xui8>, %u: tuple<>, %v: tuple<tensor<i1>>, "
            "%w: tensor<bf16>) -> tensor<?x2xui8> {",
        ),
    ],
)
def test_signature(text: str, head: str) -> None:
    assert ir_of(text).split("\n")[0] == head


def test_definitions_of_data_types() -> None:
    text = """
    type Tree[A] { Leaf, Node(A, List2[Tree[A]],), }
    type List2[A] { Nil2, Cons2(A, List2[A]) }
    type Empty[]
    extern type Store
    def @main(%s: Store, %e: Empty[]) { %s }
    """
    assert ir_of(text).split("\n")[:4] == [
        'relay.type_data @Tree<["A"]> [@Leaf(), @Node(!relay.type_var<A>, '
        "!relay.adt<@List2, [!relay.adt<@Tree, [!relay.type_var<A>]>]>)]",
        'relay.type_data @List2<["A"]> [@Nil2(), @Cons2(!relay.type_var<A>, '
        "!relay.adt<@List2, [!relay.type_var<A>]>)]",
        "relay.type_data @Empty []",
        "relay.type_data extern @Store []",
    ]


def test_names_that_tvm_makes_are_printed_as_they_are() -> None:
    text = "def @main(%aten::x-y::2: int32) -> int32 {\n  @93(%aten::x-y::2)\n}\n"
    module = read(f"{text}def @93(%x: int32) -> int32 {{ %x }}")
    printed = module_text(module)
    assert "%aten::x-y::2: int32" in printed
    assert "def @93(" in printed
    assert read(printed).is_structurally_equivalent(module)


ATTRIBUTES = """
def @generic[A](%x: A) { %x }
def @open(%x: Tensor[(?), float32]) { %x }
def @main(%x: Tensor[(4), float32]) {
  %0 = fn (%y: float32) { %y };
  let %h = fn [A](%y: A) { (%y, %x) };
  (
    %0(3f, name="closure", attrs_type_key="attrs.TestAttrs"),
    @open(%x, numbers=[1, 2], other=None, a.key="x"),
    @generic(%x, flag=True),
    %h(%x, q={"k"=2}),
    @main2(%x, foo=1)
  )
}
def @main2(%x: Tensor[(4), float32]) { %x }
"""


def test_attributes_of_calls_of_functions_are_kept() -> None:
    module = read(ATTRIBUTES)
    found = {
        op.name + str(op.properties.get("callee", "")): str(op.attributes[ATTRS])
        for op in module.walk()
        if ATTRS in op.attributes
    }
    assert found == {
        "relay.call": '{name = "closure", attrs_type_key = "attrs.TestAttrs"}',
        "relay.invoke@open": '{numbers = [1 : i64, 2 : i64], other = none, a.key = "x"}',
        "relay.invoke@generic": "{flag = true}",
        "relay.invoke@main_h": "{q = {k = 2 : i64}}",
        "func.call@main2": "{foo = 1 : i64}",
    }
    printed = module_text(module)
    assert '(3f, name="closure", attrs_type_key="attrs.TestAttrs")' in printed
    assert '@open(%x, numbers=[1, 2], other=None, a.key="x")' in printed
    again = read(printed)
    assert sum(ATTRS in op.attributes for op in again.walk()) == len(found)


def test_a_constructor_has_no_attributes() -> None:
    found = error_of("def @main() {\n  Cons(1, Nil, foo=1)\n}")
    assert found == "2:3: unexpected attribute foo: a constructor has none"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("add", ["lhs", "rhs"]),
        ("nn.relu", ["data"]),
        ("nn.batch_norm", ["data", "gamma", "beta", "moving_mean", "moving_var"]),
    ],
)
def test_an_operator_is_the_program_whose_parameters_are_its_operands(
    name: str, expected: list[str]
) -> None:
    (function,) = read(name).ops
    assert isinstance(function, FuncOp)
    block = function.body.block
    assert [a.name_hint for a in block.args] == expected
    assert {str(a.type) for a in block.args} == {"!relay.incomplete"}
    operator = block.first_op
    assert operator is not None
    assert operator.name == f"relay.{name}"
    assert list(operator.operands) == list(block.args)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("concatenate", "concatenate can only be called, not used as a value"),
        ("nn.dropout", "nn.dropout can only be called, not used as a value"),
        ("reshape", "reshape: newshape is required"),
        ("nn.rleu", "unknown operator or constructor nn.rleu; did you mean 'nn.relu'"),
    ],
)
def test_an_operator_that_cannot_be_a_program(name: str, message: str) -> None:
    assert error_of(name).startswith(f"1:1: {message}")


@pytest.mark.parametrize(
    ("params", "expr", "types"),
    [
        ("%x: Tensor[(1, 4, 8, 8), int8], %w", "nn.conv2d(%x, %w, channels=6, kernel_size=[3, 2])", ["6x4x3x2xi8"]),
        ("%x: Tensor[(1, 8, 8, 4), float32], %w", 'nn.conv2d(%x, %w, groups=2, channels=6, kernel_size=[3, 2], data_layout="NHWC", kernel_layout="HWIO")', ["3x2x2x6xf32"]),
        ("%x: Tensor[(1, 2, 8, 8, 2), float32], %w", 'nn.conv2d(%x, %w, channels=6, kernel_size=[3, 3], data_layout="NCHW2c", kernel_layout="OIHW2i3o")', ["2x2x3x3x2x3xf32"]),
        ("%x: Tensor[(1, ?, 8, 8), float32], %w", "nn.conv2d(%x, %w, channels=6, kernel_size=[3, 2])", ["6x?x3x2xf32"]),
        ("%x: Tensor[(1, 4, 8, 8), float32], %w", "nn.conv2d_transpose(%x, %w, groups=2, channels=6, kernel_size=[3, 2])", ["4x3x3x2xf32"]),
        ("%x: Tensor[(2, 3), float16], %w", "nn.dense(%x, %w, units=5)", ["5x3xf16"]),
        ("%x: Tensor[(2, 3), float32], %b", "nn.bias_add(%x, %b, axis=-1)", ["3xf32"]),
        ("%x: Tensor[(2, 3), float32], %a", "nn.prelu(%x, %a)", ["3xf32"]),
        ("%x: Tensor[(2, 3), float32], %g, %b, %m, %v: Tensor[(3), float32]", "nn.batch_norm(%x, %g, %b, %m, %v).0", ["3xf32"] * 4),
        # a type that a later use has counts, as do dims that only it knows
        ("%x: Tensor[(1, ?, 8, 8), float32], %w", "let %y = nn.conv2d(%x, %w, channels=6, kernel_size=[1, 1]); @f(%w)", ["6x4x1x1xf32"]),
    ],
)  # fmt: skip
def test_types_of_weights_follow_from_the_data(params: str, expr: str, types: list[str]) -> None:
    f = "def @f(%w: Tensor[(6, 4, 1, 1), float32]) { %w }"
    function = next(iter(read(f"def @main({params}) {{ {expr} }}\n{f}").ops))
    assert isinstance(function, FuncOp)
    assert [str(a.type) for a in function.body.block.args[1:]] == [f"tensor<{t}>" for t in types]


def test_types_of_weights_that_do_not_follow() -> None:
    text = "def @main(%x: Tensor[(1, 4, 8, 8), float32], %w) { nn.conv2d(%x, %w, channels=6) }"
    assert error_of(text) == "1:46: cannot infer the type of %w; add a type annotation"


def test_what_is_in_no_list_is_unit() -> None:
    (*_, function) = read("def @main() { (Nil, Cons(Nil, Nil)) }").ops
    assert isinstance(function, FuncOp)
    assert str(function.function_type.outputs.data[0]) == (
        "tuple<!relay.adt<@List, [tuple<>]>, !relay.adt<@List, [!relay.adt<@List, [tuple<>]>]>>"
    )
    found = error_of("def @main(%x) { Cons(%x, Nil) }")
    assert found == "1:11: cannot infer the type of %x; add a type annotation"


def test_names_that_mlir_does_not_allow_are_kept() -> None:
    module = read("def @main(%conv1/w_0: int32, %a-b: int32, %x: int32, %input.1: int32) { %a-b }")
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    assert function.arg_attrs is not None
    names = [entry.data.get("relay.name") for entry in function.arg_attrs]
    assert names == [StringAttr("conv1/w_0"), None, None, None]
    assert [a.name_hint for a in function.body.block.args] == ["conv1_w.0", "a-b", "x", "input.1"]


def test_every_op_has_its_place() -> None:
    module = read("def @main(%x: int32) {\n  let %y = %x + 1;\n    negative(%y)\n}")
    places = [
        (op.name, op.location.line.data, op.location.column.data)
        for op in module.walk()
        if isinstance(op.location, FileLineColLoc)
    ]
    assert places == [
        ("builtin.module", 1, 1),
        ("func.func", 2, 5),
        ("relay.constant", 3, 17),
        ("relay.add", 3, 15),
        ("relay.negative", 4, 5),
        ("func.return", 4, 5),
    ]
    (function,) = module.ops
    assert isinstance(function, FuncOp)
    location = function.body.block.args[0].location
    assert isinstance(location, FileLineColLoc)
    assert (location.line.data, location.column.data) == (2, 11)


def test_a_text_without_anything_is_an_empty_module() -> None:
    assert ir_of('#[version = "0.0.5"]\n') == ""
