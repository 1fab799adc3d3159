"""Hints, copies and annotations of devices."""

import json

import pytest
from helpers.relay.relay_programs import body_of, error_of, ir_of

DEVICES = [
    {"device_type_int": 1, "virtual_device_id": 0, "target": None, "scope": ""},
    {"device_type_int": 2, "virtual_device_id": 1, "target": "cuda -arch=sm_80", "scope": "global"},
    {"device_type_int": -1, "virtual_device_id": -1, "target": None, "scope": "texture"},
    {"device_type_int": 77, "virtual_device_id": 3, "target": None, "scope": ""},
    {"device_type_int": -1, "virtual_device_id": -1, "target": None, "scope": ""},
]
CPU, GPU, SCOPE, OTHER, NONE = (f"meta[VirtualDevice][{i}]" for i in range(5))


def metadata() -> str:
    """A metadata section with `DEVICES`."""
    nodes: list[dict[str, object]] = [
        {"type_key": ""},
        {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
        {"type_key": "Array", "data": []},
    ]

    def add(node: dict[str, object]) -> int:
        nodes.append(node)
        return len(nodes) - 1

    entries: list[int] = []
    for device in DEVICES:
        target = 0
        if device["target"] is not None:
            target = add({"type_key": "Target", "repr_str": device["target"]})
        scope = add({"type_key": "runtime.String", "repr_str": device["scope"]})
        fields = {
            "device_type_int": str(device["device_type_int"]),
            "memory_scope": str(scope),
            "target": str(target),
            "virtual_device_id": str(device["virtual_device_id"]),
        }
        entries.append(add({"type_key": "VirtualDevice", "attrs": fields}))
    nodes[2]["data"] = entries
    text = json.dumps({"root": 1, "nodes": nodes, "b64ndarrays": []})
    return f"\n#[metadata]\n{text}"


def hints(text: str) -> list[str]:
    """Return the devices and constraints of the `relay.on_device`s of `@main`, in order."""
    lines = body_of(text + metadata()).split("\n")
    said: list[str] = []
    for line in lines:
        if "relay.on_device" in line:
            before = line.partition(" : ")[0].partition("relay.on_device ")[2]
            said.append(before.replace("#relay.device", ""))
    return said


def test_annotations_of_signatures() -> None:
    text = f"""
      def @main(%a {{virtual_device={CPU}}}: int32, %b: int32, %c {{virtual_device={GPU}}}: int32,
                %d {{virtual_device={NONE}}}: int32, virtual_device={SCOPE}) {{ %b }}
    """
    assert ir_of(text + metadata()).split("\n")[0] == (
        "func.func @main(%a: tensor<i32> {relay.device = #relay.device<cpu:0>}, %b: tensor<i32>, "
        '%c: tensor<i32> {relay.device = #relay.device<cuda:1, target = "cuda -arch=sm_80", '
        'scope = "global">}, %d: tensor<i32>) -> (tensor<i32> {relay.device = '
        '#relay.device<?, scope = "texture">}) {'
    )


def test_annotations_of_closures() -> None:
    text = f"""
      def @main() {{
        fn (%a: int32, %b {{virtual_device={CPU}}}: int32, virtual_device={OTHER}) {{ %a }}
      }}
    """
    assert body_of(text + metadata()).split("\n")[0] == (
        "%0 = relay.fn (%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> attributes "
        "{param_devices = [#relay.device<?>, #relay.device<cpu:0>], "
        "result_device = #relay.device<dev77:3>} {"
    )


def test_a_hint_in_an_expression_constrains_its_operand() -> None:
    text = f"def @main(%x: int32) {{ %0 = on_device(%x, virtual_device={CPU}); add(%0, %0) }}"
    assert hints(text) == ["%x, <cpu:0>"]


@pytest.mark.parametrize(
    ("attrs", "said"),
    [
        (f"virtual_device={CPU}, constrain_result=True", "%x, <cpu:0> {constrain_result = true}"),
        (
            f"virtual_device={CPU}, constrain_body=False, constrain_result=True",
            "%x, <cpu:0> {constrain_body = false, constrain_result = true}",
        ),
        ("constrain_body=False", "%x, <?> {constrain_body = false}"),
    ],
)
def test_what_a_hint_says_is_kept(attrs: str, said: str) -> None:
    assert hints(f"def @main(%x: int32) {{ negative(on_device(%x, {attrs})) }}") == [said]


def test_a_hint_that_a_let_binds_constrains_both_sides() -> None:
    text = f"def @main(%x: int32) {{ let %y = on_device(%x, virtual_device={CPU}); negative(%y) }}"
    assert hints(text) == ["%x, <cpu:0> {constrain_result = true}"]


def test_so_does_one_that_a_graph_binding_brings_there() -> None:
    text = f"""
      def @main(%x: int32) {{
        %0 = on_device(%x, virtual_device={CPU});
        let %y = %0;
        negative(%y)
      }}
    """
    assert hints(text) == ["%x, <cpu:0> {constrain_result = true}"]


def test_one_that_others_use_too_stays() -> None:
    text = f"""
      def @main(%x: int32) {{
        %0 = on_device(%x, virtual_device={CPU});
        let %y = %0;
        add(%y, %0)
      }}
    """
    assert hints(text) == ["%x, <cpu:0>"]


def test_a_hint_that_is_a_body_constrains_both_sides() -> None:
    text = f"def @main(%x: int32) {{ %0 = negative(%x); on_device(%0, virtual_device={CPU}) }}"
    assert hints(text) == ["%0, <cpu:0> {constrain_result = true}"]
    inner = f"def @main(%y: int32) {{ fn (%x: int32) {{ on_device(%x, virtual_device={CPU}) }} }}"
    assert hints(inner) == ["%x, <cpu:0> {constrain_result = true}"]


def test_not_behind_a_let() -> None:
    text = f"def @main(%x: int32) {{ let %y = %x; on_device(%y, virtual_device={CPU}) }}"
    assert hints(text) == ["%x, <cpu:0>"]


def test_a_closure_in_a_hint_may_name_itself() -> None:
    text = f"""
      def @main(%n: int32) {{
        let %f = on_device(fn (%i: int32) -> int32 {{ %f(%i) }}, virtual_device={CPU});
        %f(%n)
      }}
    """
    assert hints(text) == ["%0, <cpu:0> {constrain_result = true}"]


def test_a_copy_is_two_hints() -> None:
    text = f"""
      def @main(%x: int32) {{
        device_copy(%x, src_virtual_device={CPU}, dst_virtual_device={GPU})
      }}
    """
    assert hints(text) == [
        "%x, <cpu:0> {constrain_result = true}",
        '%0, <cuda:1, target = "cuda -arch=sm_80", scope = "global"> '
        "{constrain_body = false, constrain_result = true}",
    ]


@pytest.mark.parametrize(
    ("expr", "message"),
    [
        ("on_device(%x)", "on_device: virtual_device must be a meta[VirtualDevice] entry"),
        (
            f"on_device(%x, virtual_device={NONE})",
            "on_device: a constraining hint must name a device",
        ),
        (
            f"device_copy(%x, src_virtual_device={CPU})",
            "device_copy: dst_virtual_device must be a meta[VirtualDevice] entry with a device",
        ),
        (
            "on_device(%x, device_type=1)",
            "on_device has no attribute device_type (its attributes: virtual_device, "
            "constrain_result, constrain_body)",
        ),
        (
            "on_device(%x, virtual_device=meta[VirtualDevice][9])",
            "meta[VirtualDevice][9] does not exist: VirtualDevice has 5 entries",
        ),
    ],
)
def test_wrong_hints(expr: str, message: str) -> None:
    found = error_of(f"def @main(%x: int32) {{\n{expr} }}" + metadata())
    assert found.partition(": ")[2] == message


# A hint that is the value of a `let` or the body of a function constrains both sides.

TUPLE = "(%a, %b)"
HINT = f"on_device({TUPLE}, virtual_device={CPU})"


def tuples_and_hints(body: str) -> list[str]:
    """The ops on tuples and the hints of a function of two parameters, without names and types."""
    text = f"def @main(%a: int32, %b: int32) {{ {body} }}"
    lines = (line.strip().partition(" : ")[0] for line in body_of(text + metadata()).split("\n"))
    said = (line.partition(" = ")[2] for line in lines)
    return [line for line in said if line.startswith(("relay.on_device", "relay.tuple"))]


@pytest.mark.parametrize(
    "body",
    [
        f"{HINT}.0",
        f"let %x = {HINT}.0; %x",
        f"%0 = {HINT}; let %x = %0.0; %x",
        f"%0 = {HINT}; %1 = %0.0; %1",
        f"%0 = {TUPLE}; %1 = on_device(%0, virtual_device={CPU}); %2 = %1.0; let %x = %2; %x",
    ],
)
def test_a_field_of_a_hinted_tuple_is_a_hinted_field(body: str):
    assert tuples_and_hints(body) == [
        "relay.tuple %a, %b",
        "relay.tuple_get_item %0[0]",
        "relay.on_device %1, #relay.device<cpu:0> {constrain_result = true}",
    ]


def test_a_field_of_a_field_is_hinted_last():
    assert tuples_and_hints(f"on_device(({TUPLE}, %a), virtual_device={CPU}).0.1") == [
        "relay.tuple %a, %b",
        "relay.tuple %0, %a",
        "relay.tuple_get_item %1[0]",
        "relay.tuple_get_item %2[1]",
        "relay.on_device %3, #relay.device<cpu:0> {constrain_result = true}",
    ]


def test_a_shared_hint_stays_where_it_is():
    assert tuples_and_hints(f"%0 = {HINT}; let %x = %0.0; add(%x, %0.1)") == [
        "relay.tuple %a, %b",
        "relay.on_device %0, #relay.device<cpu:0>",
        "relay.tuple_get_item %1[0]",
        "relay.tuple_get_item %1[1]",
    ]
