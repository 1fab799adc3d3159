"""Properties of every operator, on all samples."""

import re
from collections import defaultdict
from inspect import signature
from io import StringIO

import pytest
from helpers.operators.inferring import OPERATORS, context
from helpers.operators.operator_samples import SAMPLES, Sample, Spec, on_each_sample
from helpers.programs.every_case import every
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.test import TestOp
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Commutative, OpTrait, is_side_effect_free

from xrelay.dialects.attributes import ELEMENT_TYPES, plain_attributes, properties_of
from xrelay.dialects.device import CPU, device_of, tensor_type, with_device
from xrelay.dialects.interfaces import (
    DeviceRule,
    InferTypes,
    ReshapesOnly,
    ResultOnHost,
)
from xrelay.dialects.relay import IncompleteType
from xrelay.dialects.relay.operator import Operator, SizesOnHost
from xrelay.dialects.tensors import as_tensor, dtype_name
from xrelay.operators.all_rules import RULES

COMMUTATIVE = {
    *("add", "multiply", "maximum", "minimum", "equal", "not_equal"),
    *("logical_and", "logical_or", "logical_xor", "bitwise_and", "bitwise_or", "bitwise_xor"),
}

ONE_VALUE_ONLY = {
    ("nn.conv2d_transpose", "data_layout"),
    ("nn.conv2d_transpose", "kernel_layout"),
    *((f"nn.conv{n}d_transpose", f"{part}_layout") for n in (1, 3) for part in ("data", "kernel")),
    *(("nn.deformable_conv2d", f"{part}_layout") for part in ("data", "kernel")),
    ("vision.all_class_non_max_suppression", "output_format"),
}
"""Attributes with only one valid value so far."""


def test_operands_are_in_the_order_of_the_rule():
    """Passes read operands by name, rules by position."""
    for name, op in OPERATORS.items():
        operands = [operand for operand, _ in op.get_irdl_definition().operands]
        parameters = signature(RULES[f"relay.{name}"].function).parameters
        both = [parameter for parameter in parameters if parameter in operands]
        assert both == [operand for operand in operands if operand in both], name


def spec_of(type: Attribute) -> Spec:
    tensor = as_tensor(type)
    assert tensor is not None
    name = dtype_name(tensor.element_type)
    assert name is not None
    return tensor.get_shape(), name


def build(sample: Sample) -> tuple[Operation, Operator]:
    """The sample's operator, and the op that defines its operands."""
    source = TestOp(result_types=[TensorType(ELEMENT_TYPES[d], s) for s, d in sample.operands])
    cls = OPERATORS[sample.name]
    return source, cls.on(source.results, properties_of(cls, sample.attrs))


def printed(op: Operation, generic: bool) -> str:
    out = StringIO()
    Printer(out, print_generic_format=generic).print_op(op)
    return out.getvalue()


# ------------------------------------------------------------------- the table


def test_every_operator_has_samples():
    assert {sample.name for sample in SAMPLES} == set(OPERATORS)


def test_samples_give_every_attribute_another_value_than_its_default():
    given: dict[str, set[str]] = defaultdict(set)
    for sample in SAMPLES:
        cls = OPERATORS[sample.name]
        defaults = {
            name: definition.default_value
            for name, definition in cls.get_irdl_definition().properties.items()
        }
        for name, attr in properties_of(cls, sample.attrs).items():
            if attr != defaults[name]:
                given[sample.name].add(name)
    missing = {
        (name, attribute)
        for name, cls in OPERATORS.items()
        for attribute in cls.get_irdl_definition().properties
        if attribute not in given[name]
    }
    assert missing == ONE_VALUE_ONLY


# ------------------------------------------------------------------ each sample


@every("sample", SAMPLES)
def test_result_types_are_inferred(sample: Sample):
    _, op = build(sample)
    op.verify()
    assert tuple(spec_of(result.type) for result in op.results) == sample.results


CONTEXT = context()


@on_each_sample()
def test_text_round_trips(sample: Sample):
    """Of the generic form, the first sample of each operator."""
    module = ModuleOp(list(build(sample)))
    for generic in (False, True)[: 1 + (sample.index == 0)]:
        text = printed(module, generic)
        assert (f'"relay.{sample.name}"(' in text) == generic
        parsed = Parser(CONTEXT, text).parse_module()
        parsed.verify()
        assert module.is_structurally_equivalent(parsed)
        assert printed(parsed, generic) == text


@every("sample", SAMPLES)
def test_plain_attributes_are_those_given_and_the_defaults(sample: Sample):
    _, op = build(sample)
    plain = plain_attributes(op)
    assert {name: plain[name] for name in sample.attrs} == dict(sample.attrs)
    bare = OPERATORS[sample.name].create()
    defaults = plain_attributes(bare)
    assert {k: v for k, v in plain.items() if k not in sample.attrs} == {
        k: v for k, v in defaults.items() if k not in sample.attrs
    }
    assert properties_of(OPERATORS[sample.name], plain) == op.properties


@every("sample", SAMPLES)
def test_operands_may_be_incomplete(sample: Sample):
    source = TestOp(result_types=[IncompleteType()] * len(sample.operands))
    cls = OPERATORS[sample.name]
    op = cls.create(
        operands=source.results,
        result_types=[IncompleteType()] * len(sample.results),
        properties=properties_of(cls, sample.attrs),
    )
    op.verify()


@pytest.mark.ci
@every("sample", SAMPLES)
def test_a_wrong_result_type_is_an_error(sample: Sample):
    source, op = build(sample)
    wrong = tensor_type(ELEMENT_TYPES["int4"], [7, 7, 7])
    types = [wrong, *(r.type for r in op.results[1:])]
    bad = type(op).create(operands=source.results, result_types=types, properties=op.properties)
    with pytest.raises(Exception, match=re.escape("is declared as tensor<7x7x7xi4>")):
        bad.verify()


@pytest.mark.ci
@every("sample", SAMPLES)
def test_devices_play_no_part_in_the_types(sample: Sample):
    source, op = build(sample)
    on_device = TestOp(result_types=[with_device(r.type, CPU) for r in source.results])
    cls = OPERATORS[sample.name]
    moved = cls.on(on_device.results, op.properties)
    assert [r.type for r in moved.results] == [r.type for r in op.results]
    types = [with_device(r.type, CPU) for r in moved.results]
    assert {device_of(type) for type in types} == {CPU}
    cls.create(operands=on_device.results, result_types=types, properties=op.properties).verify()


# ---------------------------------------------------------------- each operator


def with_trait(trait: type[OpTrait]) -> set[str]:
    return {name for name, cls in OPERATORS.items() if cls.has_trait(trait)}


def test_operators_are_pure_and_have_a_device_rule():
    for name, cls in OPERATORS.items():
        assert is_side_effect_free(cls.create()), name
        (rule,) = cls.get_traits_of_type(DeviceRule)
        expected = ResultOnHost if name in ("shape_of", "ndarray_size") else SizesOnHost
        assert isinstance(rule, expected), name
        assert len(cls.get_traits_of_type(InferTypes)) == 1, name


def test_commutative_operators():
    assert with_trait(Commutative) == COMMUTATIVE


def test_reshapes_keep_the_elements():
    assert with_trait(ReshapesOnly) == {
        *("reshape", "nn.batch_flatten", "expand_dims", "squeeze"),
        *("dyn.reshape", "dyn.expand_dims", "dyn.squeeze"),
    }


def test_docstrings_begin_with_a_sentence():
    for name, cls in OPERATORS.items():
        first, *_ = (cls.__doc__ or "").strip().splitlines()
        assert first[0].isupper(), name
        assert first.endswith("."), name


def _examples() -> list[tuple[str, str]]:
    classes = {base for cls in OPERATORS.values() for base in cls.__mro__ if base.__doc__}
    return sorted(
        (cls.__name__, example)
        for cls in classes
        if cls.__module__.startswith("xrelay.dialects.relay.")
        for block in re.findall(r"```mlir\n(.*?)```", cls.__doc__ or "", re.DOTALL)
        for example in re.split(r"\n\s*(?=%)", block.strip())
    )


@every(("cls", "example"), _examples())
def test_examples_in_docstrings_are_programs(cls: str, example: str):
    form = re.fullmatch(
        r"[^=]* = relay\.[\w.]+ ([^{:]*)(?:\{.*\})?\s*: (?:\((.*?)\)\s*->)?.*", example, re.S
    )
    assert form is not None, cls
    names = re.findall(r"%\w+", form[1])
    types = re.findall(r"tensor<[^>]*>", form[2] or "")
    sources = [f'{n} = "test.op"() : () -> {t}' for n, t in zip(names, types, strict=True)]
    module = Parser(context(), "\n".join([*sources, example])).parse_module()
    module.verify()
    *_, op = module.body.ops
    assert isinstance(op, Operator)


def test_equal_results_are_one_object():
    sample = next(s for s in SAMPLES if s.name == "nn.conv2d")
    (_, a), (_, b) = build(sample), build(sample)
    assert a.results[0].type is b.results[0].type
