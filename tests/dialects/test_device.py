"""Virtual devices: their text, joining two of them, and types that carry one."""

import ast
from itertools import product
from pathlib import Path

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import (
    Builtin,
    FunctionType,
    NoneAttr,
    TensorType,
    TupleType,
    f32,
    i32,
)
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import Parser
from xdsl.utils.exceptions import ParseError, VerifyException

from xrelay.dialects.device import (
    CPU,
    UNCONSTRAINED,
    DeviceCarrier,
    VirtualDeviceAttr,
    device_of,
    devices_in,
    disambiguated,
    tensor_type,
    with_device,
)
from xrelay.dialects.relay import IncompleteType, Relay

ROOT = Path(__file__).parents[2]

CUDA = VirtualDeviceAttr("cuda", 0)


def parse(text: str) -> Attribute:
    ctx = Context()
    ctx.load_dialect(Builtin)
    ctx.load_dialect(Relay)
    parser = Parser(ctx, text)
    return parser.parse_attribute()


def device(text: str) -> VirtualDeviceAttr:
    attr = parse(f"#relay.device<{text}>")
    assert isinstance(attr, VirtualDeviceAttr)
    return attr


# ------------------------------------------------------------------------ text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu", VirtualDeviceAttr("cpu")),
        ("cuda:0", VirtualDeviceAttr("cuda", 0)),
        ("hexagon.v68:12", VirtualDeviceAttr("hexagon.v68", 12)),
        ("?", VirtualDeviceAttr()),
        ("?:1", VirtualDeviceAttr(None, 1)),
        ('cpu, target = "llvm -mcpu=x"', VirtualDeviceAttr("cpu", None, "llvm -mcpu=x")),
        ('cpu:0, scope = "global"', VirtualDeviceAttr("cpu", 0, None, "global")),
        (
            '?:1, target = "llvm", scope = "global"',
            VirtualDeviceAttr(None, 1, "llvm", "global"),
        ),
    ],
)
def test_text_round_trips(text: str, expected: VirtualDeviceAttr):
    assert device(text) == expected
    assert str(expected) == f"#relay.device<{text}>"


def test_text_in_another_order_and_with_escapes():
    assert device('?, scope = "s", target = "t"') == VirtualDeviceAttr(None, None, "t", "s")
    odd = VirtualDeviceAttr("cpu", 0, 'a "b" \\', "")
    assert parse(str(odd)) == odd


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "identifier expected for a device type, or ?"),
        ('"cpu"', "identifier expected for a device type, or ?"),
        ("cpu:", "Expected integer literal"),
        ("cpu:-1", "a device id must be at least 0, but is -1"),
        ("cpu:true", "Expected integer literal"),
        ("cpu:0:1", "'>' expected"),
        ("cpu, target = 5", "target must be a string, but is 5 : i64"),
        ('cpu, kind = "a"', "unknown device field 'kind'; expected 'target' or 'scope'"),
        ('cpu, scope = "a", scope = "b"', "duplicate device field 'scope'"),
        ("cpu,", "identifier expected: target or scope"),
    ],
)
def test_text_that_is_wrong(text: str, message: str):
    with pytest.raises(ParseError) as info:
        device(text)
    assert info.value.msg == message


def test_fields_that_are_wrong():
    with pytest.raises(VerifyException, match="a device id must be at least 0, but is -2"):
        VirtualDeviceAttr("cpu", -2)
    with pytest.raises(VerifyException, match='must be an identifier, but is "a b"'):
        VirtualDeviceAttr("a b")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cpu", VirtualDeviceAttr("cpu")),
        ("cuda:3", VirtualDeviceAttr("cuda", 3)),
        ("?", UNCONSTRAINED),
        ("?:2", VirtualDeviceAttr(None, 2)),
        *[(text, None) for text in ("", ":1", "cpu:", "cpu:x", "cpu:-1", "1cpu", "cpu 0", "a:٣")],
    ],
)
def test_parse_spec(text: str, expected: VirtualDeviceAttr | None):
    assert VirtualDeviceAttr.parse_spec(text) == expected
    if expected is not None:
        assert expected.spec == text


# --------------------------------------------------------------------- joining


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("?", "?", "?"),
        ("cpu", "?", "cpu"),
        ("cpu", "?:1", "cpu:1"),
        ("cpu:1", "cpu", "cpu:1"),
        ("cpu", "cuda", None),
        ("cpu:0", "cpu:1", None),
        ('?, target = "llvm"', 'cpu, scope = "s"', 'cpu, target = "llvm", scope = "s"'),
        ('cpu, target = "a"', 'cpu, target = "b"', None),
        ('cpu, scope = "a"', 'cpu, scope = "b"', None),
    ],
)
def test_join(a: str, b: str, expected: str | None):
    result = None if expected is None else device(expected)
    assert device(a).join(device(b)) == result
    assert device(b).join(device(a)) == result


SOME = [
    VirtualDeviceAttr(*fields)
    for fields in product((None, "cpu", "cuda"), (None, 0, 1), (None, "t"), (None, "s"))
]


def test_joining_is_commutative_associative_and_has_a_neutral_device():
    few = SOME[::3]
    for a in SOME:
        assert a.join(a) == a
        assert a.join(UNCONSTRAINED) == a
        for b in few:
            assert a.join(b) == b.join(a)
            for c in few:
                left, right = a.join(b), b.join(c)
                both = left and left.join(c), right and a.join(right)
                assert both[0] == both[1]


def test_is_unconstrained():
    assert [d for d in SOME if d.is_unconstrained] == [UNCONSTRAINED]


@pytest.mark.parametrize(
    ("mine", "default", "expected"),
    [
        ("?", "cpu:0", "cpu:0"),
        ("cpu", "cpu:1", "cpu:1"),
        ("?:2", "cpu:1", "cpu:2"),
        ("cuda", "cpu:1", "cuda:0"),
        ("cuda:3", "cpu:1", "cuda:3"),
        ("?", 'cpu:0, target = "llvm"', 'cpu:0, target = "llvm"'),
        ("cuda:0", 'cpu:0, target = "llvm"', "cuda:0"),
        ("cuda:0", 'cpu:0, scope = "global"', 'cuda:0, scope = "global"'),
        ('cpu, target = "c"', 'cpu:0, target = "llvm"', 'cpu:0, target = "c"'),
    ],
)
def test_completed_by(mine: str, default: str, expected: str):
    assert device(mine).completed_by(device(default)) == device(expected)


# ----------------------------------------------------------------------- types


@irdl_attr_definition
class CarrierType(ParametrizedAttribute, TypeAttribute, DeviceCarrier):
    """A type of another dialect that carries a device."""

    name = "elsewhere.carrier"
    device: VirtualDeviceAttr | NoneAttr

    @property
    def carried_device(self) -> VirtualDeviceAttr | None:
        return self.device if isinstance(self.device, VirtualDeviceAttr) else None

    def with_device(self, device: VirtualDeviceAttr | None) -> "CarrierType":
        return CarrierType(NoneAttr() if device is None else device)


def test_tensors_carry_a_device_as_their_encoding():
    plain = tensor_type(f32, [5, 7])
    assert str(with_device(plain, CUDA)) == "tensor<5x7xf32, #relay.device<cuda:0>>"
    assert device_of(plain) is None
    assert device_of(with_device(plain, CUDA)) == CUDA
    assert with_device(with_device(plain, CUDA), None) == plain
    assert with_device(with_device(plain, CUDA), CPU) == tensor_type(f32, [5, 7], CPU)
    assert with_device(plain, None) is plain


def test_an_encoding_that_is_no_device_is_none():
    assert device_of(parse('tensor<5xf32, "sparse">')) is None


def test_other_carriers_carry_their_own():
    bare = CarrierType(NoneAttr())
    assert device_of(bare) is None
    assert with_device(bare, CUDA) == CarrierType(CUDA)
    assert device_of(CarrierType(CUDA)) == CUDA
    assert with_device(CarrierType(CUDA), None) == bare


def test_tuples_and_functions_carry_through_their_parts():
    plain = tensor_type(f32, [2])
    on_cuda = tensor_type(f32, [2], CUDA)
    nested = TupleType((i32, TupleType((plain, CarrierType(NoneAttr())))))
    moved = TupleType((i32, TupleType((on_cuda, CarrierType(CUDA)))))
    assert with_device(nested, CUDA) == moved
    assert with_device(moved, None) == nested
    assert device_of(nested) is None
    assert device_of(moved) == CUDA

    function = FunctionType.from_lists([plain, i32], [nested])
    on_device = FunctionType.from_lists([on_cuda, i32], [moved])
    assert with_device(function, CUDA) == on_device
    assert device_of(on_device) == CUDA
    assert device_of(FunctionType.from_lists([], [])) is None


def test_device_of_parts_is_the_first_there_is():
    mixed = TupleType((tensor_type(f32, [2]), tensor_type(f32, [2], CPU), CarrierType(CUDA)))
    assert device_of(mixed) == CPU
    assert list(devices_in(mixed)) == [None, CPU, CUDA]
    assert list(devices_in(FunctionType.from_lists([mixed], [i32, CarrierType(CUDA)]))) == [
        *(None, CPU, CUDA),
        CUDA,
    ]


def test_types_that_live_nowhere_stay():
    for type in (i32, f32, IncompleteType()):
        assert with_device(type, CUDA) is type
        assert device_of(type) is None
        assert list(devices_in(type)) == []


def test_empty_tuples_and_scalars():
    assert with_device(TupleType(()), CUDA) == TupleType(())
    assert str(tensor_type(f32, [], CPU)) == "tensor<f32, #relay.device<cpu:0>>"
    assert isinstance(tensor_type(f32, []), TensorType)


def makes_a_tensor_type(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    called = node.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", None)
    return name == "TensorType"


@pytest.mark.parametrize("room", ["dialects", "passes", "lowering", "frontends"])
def test_only_the_device_module_writes_encodings(room: str):
    """Tensor types are built only by `tensor_type` and `with_device`, which keep the device."""
    makers = {
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / room).rglob("*.py"))
        if path != ROOT / "dialects" / "device.py"
        if "TensorType(" in (text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if makes_a_tensor_type(node) and isinstance(node, ast.Call)
    }
    assert makers == set()


def test_the_search_finds_what_it_looks_for():
    text = (ROOT / "dialects" / "device.py").read_text()
    assert sum(map(makes_a_tensor_type, ast.walk(ast.parse(text)))) == 1
    assert makes_a_tensor_type(ast.parse("builtin.TensorType(f32, [2])", mode="eval").body)


def test_words():
    assert VirtualDeviceAttr("cuda", 1).long_name == "cuda:1"
    full = VirtualDeviceAttr("cuda", None, "cuda -arch=sm_80", "texture")
    assert full.long_name == 'cuda (target "cuda -arch=sm_80", scope "texture")'


def test_devices_are_told_apart():
    cpu, gpu = VirtualDeviceAttr("cpu", 0, "llvm"), VirtualDeviceAttr("cuda", 0, "cuda")
    assert disambiguated(cpu, gpu) == ("cpu:0", "cuda:0")
    assert disambiguated(cpu, CPU) == ('cpu:0 (target "llvm")', "cpu:0")
    assert disambiguated(VirtualDeviceAttr(None, 1), CPU) == ("?:1", "cpu:0")
