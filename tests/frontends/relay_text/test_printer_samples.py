"""Every operator with every kind of attribute, printed as Relay text and read again."""

from helpers.operators.inferring import OPERATORS
from helpers.operators.operator_samples import SAMPLES, Sample, on_each_sample
from helpers.relay.relay_programs import context
from xdsl.dialects.builtin import FunctionType, ModuleOp, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Region, SSAValue

from xrelay.dialects.attributes import ELEMENT_TYPES, properties_of
from xrelay.dialects.relay.language.tuples import TupleOp
from xrelay.frontends.relay_text import parse_module
from xrelay.frontends.relay_text.print.printer import module_text
from xrelay.passes.support.verifier import verify


def program(sample: Sample) -> ModuleOp:
    """A module whose `@main` applies the sample's operator to its parameters."""
    types = [TensorType(ELEMENT_TYPES[dtype], shape) for shape, dtype in sample.operands]
    block = Block(arg_types=types)
    cls = OPERATORS[sample.name]
    op = cls.on(block.args, properties_of(cls, sample.attrs))
    block.add_op(op)
    result: SSAValue = op.results[0]
    if len(op.results) > 1:
        fields = TupleOp(op.results)
        block.add_op(fields)
        result = fields.result
    block.add_op(ReturnOp(result))
    type = FunctionType.from_lists(types, [result.type])
    return ModuleOp([FuncOp("main", type, Region(block))])


def text_of(name: str, index: int) -> str:
    """The line in which the operator of a sample is called."""
    sample = next(s for s in SAMPLES if (s.name, s.index) == (name, index))
    return module_text(program(sample)).split("\n")[2].strip()


def type_of(module: ModuleOp) -> FunctionType:
    """The type of the only function."""
    (main,) = module.ops
    assert isinstance(main, FuncOp)
    return main.function_type


def reduces_nothing(sample: Sample) -> bool:
    return sample.attrs.get("axis") == () and not sample.attrs.get("exclude")


@on_each_sample()
def test_a_printed_operator_is_read_again(sample: Sample):
    module = program(sample)
    again = parse_module(context(), module_text(module), "again.relay")
    verify(again)
    if reduces_nothing(sample):  # printed as something else in Relay text
        assert type_of(again) == type_of(module)
    else:
        assert again.is_structurally_equivalent(module)


def test_what_tvm_has_no_default_for_is_written():
    assert text_of("transpose", 0) == "transpose(%p0, axes=None)"
    assert text_of("strided_slice", 0) == (
        "strided_slice(%p0, begin=[1], end=[4], strides=[], axes=None)"
    )
    assert "units=" in text_of("nn.matmul", 0)
    assert "scale_h=1f, scale_w=1f" in text_of("nn.upsampling", 3)


def test_no_axes_are_all_axes_to_tvm():
    (nothing,) = {s.index for s in SAMPLES if s.name == "all" and reduces_nothing(s)}
    assert text_of("all", nothing) == "all(%p0, axis=[0, 1], exclude=True)"
