"""Operators by their TVM names: attributes, defaults, several results, replaced operators."""

# ruff: noqa: E501 (tables)

import pytest
from helpers.relay.relay_programs import body_of, error_of

X = "%x: Tensor[(2, 3), float32]"
IMAGE = "%x: Tensor[(1, 4, 8, 8), float32], %w: Tensor[(6, 4, 3, 3), float32]"
X_T, I_T, W_T = "tensor<2x3xf32>", "tensor<1x4x8x8xf32>", "tensor<6x4x3x3xf32>"


def op_lines(params: str, expr: str) -> str:
    """The body of `@main` without its terminator."""
    return "\n".join(body_of(f"def @main({params}) {{ {expr} }}").split("\n")[:-1])


@pytest.mark.parametrize(
    ("params", "expr", "expected"),
    [
        (X, "nn.leaky_relu(%x)", f"relay.nn.leaky_relu %x {{alpha = 2.500000e-01 : f64}} : ({X_T}) -> {X_T}"),
        (X, "nn.leaky_relu(%x, alpha=0.1f)", f"relay.nn.leaky_relu %x {{alpha = 1.000000e-01 : f64}} : ({X_T}) -> {X_T}"),
        (X, "sum(%x, axis=[])", f"relay.sum %x : ({X_T}) -> tensor<f32>"),
        (X, "sum(%x, axis=1, keepdims=1)", f"relay.sum %x {{axis = array<i64: 1>, keepdims = true}} : ({X_T}) -> tensor<2x1xf32>"),
        (X, "argmax(%x, axis=[0])", f"relay.argmax %x {{axis = array<i64: 0>}} : ({X_T}) -> tensor<3xi32>"),
        (X, "transpose(%x, axes=None)", f"relay.transpose %x : ({X_T}) -> tensor<3x2xf32>"),
        (X, 'cast(%x, dtype="int8")', f"relay.cast %x {{dtype = i8}} : ({X_T}) -> tensor<2x3xi8>"),
        (X, "clip(%x, a_min=-1f, a_max=6f)", f"relay.clip %x {{a_max = 6.000000e+00 : f64, a_min = -1.000000e+00 : f64}} : ({X_T}) -> {X_T}"),
        (X, "reshape(%x, newshape=[-1])", f"relay.reshape %x {{newshape = array<i64: -1>}} : ({X_T}) -> tensor<6xf32>"),
        (X, "strided_slice(%x, begin=[0], end=[1], strides=[], axes=None)", f"relay.strided_slice %x {{begin = array<i64: 0>, end = array<i64: 1>}} : ({X_T}) -> tensor<1x3xf32>"),
        (X, "nn.dense(%x, %x, units=2, out_dtype=\"\")", f"relay.nn.dense %x, %x : ({X_T}, {X_T}) -> tensor<2x2xf32>"),
        ("%x: Tensor[(2, 3, 4), float32]", "nn.batch_matmul(%x, %x, transpose_b=True)", "relay.nn.batch_matmul %x, %x : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x3xf32>"),
        ("%x: Tensor[(2, 3, 3), float32]", "nn.batch_matmul(%x, %x)", "relay.nn.batch_matmul %x, %x {transpose_b = false} : (tensor<2x3x3xf32>, tensor<2x3x3xf32>) -> tensor<2x3x3xf32>"),
        (IMAGE, "nn.conv2d(%x, %w, padding=1, channels=6, kernel_size=[3, 3])", f"relay.nn.conv2d %x, %w {{padding = array<i64: 1, 1, 1, 1>}} : ({I_T}, {W_T}) -> tensor<1x6x8x8xf32>"),
        (IMAGE, "nn.conv2d(%x, %w, padding=[1, 2], strides=[2, 2], channels=None)", f"relay.nn.conv2d %x, %w {{padding = array<i64: 1, 2, 1, 2>, strides = array<i64: 2, 2>}} : ({I_T}, {W_T}) -> tensor<1x6x4x5xf32>"),
        (IMAGE, "nn.max_pool2d(%x, pool_size=[2, 2], padding=[0, 0, 1, 1])", f"relay.nn.max_pool2d %x {{padding = array<i64: 0, 0, 1, 1>, pool_size = array<i64: 2, 2>}} : ({I_T}) -> tensor<1x4x8x8xf32>"),
        (X, "repeat(%x, repeats=2, axis=1)", f"relay.repeat %x {{axis = 1 : i64, repeats = 2 : i64}} : ({X_T}) -> tensor<2x6xf32>"),
        (X, "broadcast_to(%x, shape=[4, 2, 3], dtype=\"\")", f"relay.broadcast_to %x {{shape = array<i64: 4, 2, 3>}} : ({X_T}) -> tensor<4x2x3xf32>"),
    ],
)  # fmt: skip
def test_attributes(params: str, expr: str, expected: str) -> None:
    found = op_lines(params, expr)
    name, _, rest = found.partition(" = ")
    assert name == "%0"
    assert _sorted(rest) == _sorted(expected)


def _sorted(line: str) -> tuple[str, list[str], str]:
    """A line with its attributes in alphabetical order."""
    before, brace, rest = line.partition("{")
    if not brace:
        return line, [], ""
    inside, _, after = rest.partition("}")
    depth_free = inside.replace("array<", "[").replace(">", "]")
    parts = depth_free.split(", ")
    return before, sorted(parts), after


def test_several_results_are_a_tuple_only_where_one_is_needed() -> None:
    found = op_lines(X, "%0 = split(%x, indices_or_sections=3, axis=1); (%0.1, %0)")
    assert found == (
        "%0, %1, %2 = relay.split %x {indices_or_sections = 3 : i64, axis = 1 : i64} : "
        f"({X_T}) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>)\n"
        "%3 = relay.tuple %0, %1, %2 : (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>) -> "
        "tuple<tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>>\n"
        "%4 = relay.tuple %1, %3 : (tensor<2x1xf32>, tuple<tensor<2x1xf32>, tensor<2x1xf32>, "
        "tensor<2x1xf32>>) -> tuple<tensor<2x1xf32>, tuple<tensor<2x1xf32>, tensor<2x1xf32>, "
        "tensor<2x1xf32>>>"
    )


def test_a_tuple_for_an_operator_is_taken_apart() -> None:
    assert op_lines(X, "%0 = (%x, %x); concatenate(%0, axis=1)") == (
        f"%0 = relay.concatenate %x, %x {{axis = 1 : i64}} : ({X_T}, {X_T}) -> tensor<2x6xf32>"
    )
    params = "%t: (Tensor[(2), int32], Tensor[(2), int32])"
    assert op_lines(params, "stack(%t, axis=0)").split("\n")[-1] == (
        "%2 = relay.stack %0, %1 : (tensor<2xi32>, tensor<2xi32>) -> tensor<2x2xi32>"
    )


def test_a_tuple_whose_type_comes_later_is_taken_apart_then() -> None:
    text = """
      let %f = fn (%t) { concatenate(%t, axis=0) };
      %f((%x, %x))
    """
    assert op_lines(X, text) == (
        f"%f = relay.fn (%t: tuple<{X_T}, {X_T}>) -> tensor<4x3xf32> {{\n"
        f"  %0 = relay.tuple_get_item %t[0] : (tuple<{X_T}, {X_T}>) -> {X_T}\n"
        f"  %1 = relay.tuple_get_item %t[1] : (tuple<{X_T}, {X_T}>) -> {X_T}\n"
        f"  %2 = relay.concatenate %0, %1 : ({X_T}, {X_T}) -> tensor<4x3xf32>\n"
        "  relay.yield %2 : tensor<4x3xf32>\n"
        "}\n"
        f"%3 = relay.tuple %x, %x : ({X_T}, {X_T}) -> tuple<{X_T}, {X_T}>\n"
        f"%4 = relay.call %f(%3) : (tuple<{X_T}, {X_T}>) -> tensor<4x3xf32>"
    )


def test_dropout_is_the_identity_and_ones_where_they_are_used() -> None:
    ones = [
        "%0 = relay.constant dense<1.000000e+00> : tensor<f32>",
        f"%1 = relay.full %0 {{shape = array<i64: 2, 3>}} : (tensor<f32>) -> {X_T}",
    ]
    assert op_lines(X, "%0 = nn.dropout(%x, rate=0.3f); %0.0") == ""
    assert op_lines(X, "%0 = nn.dropout(%x, rate=0.3f); %0.1").split("\n") == ones
    assert op_lines(X, "nn.dropout(%x)").split("\n") == [
        *ones,
        f"%2 = relay.tuple %x, %1 : ({X_T}, {X_T}) -> tuple<{X_T}, {X_T}>",
    ]
    unknown = "let %f = fn (%y) { %0 = nn.dropout(%y); %0.0 }; %f(%x)"
    assert "relay.full" not in op_lines(X, unknown)


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ('zeros(shape=[2], dtype="bool")',
         ["relay.zeros {shape = array<i64: 2>, dtype = i1} : tensor<2xi1>"]),
        ("ones_like(%x)", ["relay.constant dense<1.000000e+00> : tensor<f32>",
         "relay.full %0 {shape = array<i64: 2, 3>} : (tensor<f32>) -> tensor<2x3xf32>"]),
        ('full(2, shape=[1], dtype="float16")', ["relay.constant dense<2> : tensor<i32>",
         "relay.cast %0 {dtype = f16} : (tensor<i32>) -> tensor<f16>",
         "relay.full %1 {shape = array<i64: 1>} : (tensor<f16>) -> tensor<1xf16>"]),
        ("nn.pad(%x, pad_value=1, pad_width=[[0, 0], [1, 2]])",
         ["relay.constant dense<1.000000e+00> : tensor<f32>",
          "relay.nn.pad %x, %0 {pad_width = array<i64: 0, 0, 1, 2>} : "
          "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>"]),
        ("nn.pad(%x, 0f, pad_width=[[0, 0], [1, 2]])",
         ["relay.constant dense<0.000000e+00> : tensor<f32>",
          "relay.nn.pad %x, %0 {pad_width = array<i64: 0, 0, 1, 2>} : "
          "(tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>"]),
        ("vm.shape_of(%x)", ["vm.shape_of %x : (tensor<2x3xf32>) -> tensor<2xi64>"]),
    ],
)  # fmt: skip
def test_what_becomes_other_ops(expr: str, expected: list[str]) -> None:
    found = [line.partition(" = ")[2] for line in op_lines(X, expr).split("\n")]
    assert found == expected


@pytest.mark.parametrize(
    ("params", "expr", "message"),
    [
        (X, "nn.relu(%x, %x)", "nn.relu expects 1 argument, but got 2"),
        (X, "concatenate(%x, %x)", "concatenate expects one tuple, but got 2"),
        (X, "concatenate(%x)", "concatenate expects a tuple, but got a value of type Tensor[(2, 3), float32]"),
        (X, "nn.relu(%x, alpha=1f)", "nn.relu has no attribute alpha (its attributes: none)"),
        (X, "reshape(%x)", "reshape: newshape is required"),
        (X, "reshape(%x, newshape=[5])", "reshape: cannot reshape a tensor of 2x3 to 5"),
        (X, "cast(%x, dtype=\"int33\")", 'cast: dtype must be a dtype like "float32", but is "int33"; did you mean \'int32\', '),
        (X, "sum(%x, axis=[7])", "sum: axis must be in [-2, 2), but is 7"),
        (X, "repeat(%x, repeats=2)", "repeat: axis is required"),
        (X, "nn.dense(%x, %x, units=5)", "nn.dense: units is 5, but the weight implies 2"),
        (IMAGE, "nn.conv2d(%x, %w, channels=7)", "nn.conv2d: channels is 7, but the weight implies 6"),
        (IMAGE, "nn.conv2d(%x, %w, kernel_size=[1, 3])", "nn.conv2d: kernel_size is [1, 3], but the weight implies [3, 3]"),
        (IMAGE, "nn.conv2d(%x, %w, padding=[1, 1, 1])", "nn.conv2d: padding must have 1, 2 or 4 entries, but has 3"),
        (IMAGE, 'nn.conv2d(%x, %w, out_layout="NCHX")', 'nn.conv2d: out_layout must be "NCHW", the layout of the data, but is "NCHX"'),
        (X, "add(%x, 1)", "add: operands of add must have one element type, but operand 0 has f32 and operand 1 has i32"),
        (X, "call_lowered(%x)", "call_lowered expects 2 arguments, but got 1"),
        (X, "concatenate", "concatenate can only be called, not used as a value"),
        (X, "nn.dropout(%x, seed=1)", "nn.dropout has no attribute seed (its attributes: rate)"),
    ],
)  # fmt: skip
def test_wrong_calls(params: str, expr: str, message: str) -> None:
    found = error_of(f"def @main({params}) {{\n{expr} }}")
    assert found.startswith(f"2:1: {message}")


def test_unknown_operators_need_leave() -> None:
    text = "def @main(%x: float32) { nn.fancy(%x, depth=3) /* ty=Tensor[(2), int8] span=a:1:2 */ }"
    assert "unknown operator or constructor nn.fancy" in error_of(text)
    assert body_of(text, opaque=True).split("\n")[0] == (
        '%0 = relay.call_opaque "nn.fancy"(%x) {depth = 3 : i64} : (tensor<f32>) -> tensor<2xi8>'
    )


def test_dims_that_one_side_knows_agree() -> None:
    text = """
      def @f(%x: Tensor[(?, 3), float32]) -> Tensor[(?, 3), float32] { nn.relu(%x) }
      def @main(%x: Tensor[(2, 3), float32]) -> Tensor[(?, 3), float32] { @f(%x) }
    """
    assert body_of(text).split("\n")[0] == (
        "%0 = relay.invoke @f(%x) : (tensor<2x3xf32>) -> tensor<?x3xf32>"
    )


@pytest.mark.parametrize(
    ("attributes", "dtype"), [("", "i32"), (', dtype="int64"', "i64"), (', dtype="int8"', "i8")]
)
def test_a_shape_has_the_dtype_wanted(attributes: str, dtype: str) -> None:
    lines = body_of(f"def @main(%x: Tensor[(?, 3), float32]) {{ shape_of(%x{attributes}) }}")
    assert lines.split("\n")[0] == (
        f"%0 = relay.shape_of %x {{dtype = {dtype}}} : (tensor<?x3xf32>) -> tensor<2x{dtype}>"
    )


def test_sizes_that_attributes_repeat_are_dropped() -> None:
    text = """
      def @main(%x: Tensor[(?, 3), float32], %s: Tensor[(2), int64], %n: int32) {
        %0 = dyn.reshape(%x, %s, newshape=None);
        %1 = arange(0, %n, 1, start=0, stop=None, step=1, dtype="int32");
        (%0, %1)
      }
    """
    reshape, *_, arange, _, _ = body_of(text).split("\n")
    assert reshape == (
        "%0 = relay.dyn.reshape %x, %s : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x?xf32>"
    )
    assert arange == (
        "%3 = relay.arange %1, %n, %2 {dtype = i32} : "
        "(tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<?xi32>"
    )


def test_one_result_of_topk_is_not_a_tuple() -> None:
    assert op_lines(X, 'topk(%x, k=1, ret_type="values", dtype="int32")').split("\n")[-1] == (
        '%0 = relay.topk %x {k = 1 : i64, ret_type = "values", dtype = i32} : '
        "(tensor<2x3xf32>) -> tensor<2x1xf32>"
    )
