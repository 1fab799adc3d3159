"""Programs and their text: assembling and disassembling are inverse, and errors have a place."""

import re
from collections.abc import Iterator

import numpy as np
import pytest
from helpers.machine.disassemble import disassemble
from helpers.machine.program_contents import contents
from helpers.programs.programs import parse, printed
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import bytecode
from xrelay.lowering.bytecode.assemble import assemble
from xrelay.passes.support.diagnostics import PassError
from xrelay.passes.support.verifier import verify
from xrelay.runtime.program import instructions
from xrelay.runtime.program.instructions import Reg
from xrelay.runtime.program.listing import listing
from xrelay.runtime.program.program import Array, Late, TensorSpec

EVERYTHING = """
builtin.module attributes {bytecode.devices = [#relay.device<cpu:0>, #relay.device<cuda:1>]} {
  bytecode.constant @const_0 dense<[1.0, 2.0]> : tensor<2xf32>
  bytecode.constant @const_1 dense<[[true, false]]> : tensor<1x2xi1>
  bytecode.constant @const_2 dense<7> : tensor<i64>
  bytecode.late_constant @const_3 "w" : tensor<4x?xf16>
  bytecode.func @main ("x" : tensor<4x?xf32, #relay.device<cpu:0>> dims ["", "n"], "t" : !bytecode.object<#relay.device<cuda:1>>) -> ("probabilities" : tensor<?xf32, #relay.device<cuda:1>> dims ["n"], "\\"" : !bytecode.object<#relay.device<cpu:0>>) registers 9 {
    bytecode.move r3, r1
    bytecode.invoke r4, @other(r0, r1)
    bytecode.invoke_closure r4, r2(r0)
    bytecode.invoke_packed @k(r0, r1) -> (r2, r3)
    bytecode.alloc_tensor r2, r1[0] : tensor<4xf32>
    bytecode.alloc_tensor r2, r1[r5] : tensor<f64>
    bytecode.alloc_tensor_reg r2, r1[64] shape r5 : f32
    bytecode.alloc_tensor_reg r2, r1[r6] shape r5 : i1
    bytecode.alloc_adt r3, 0(r1, r2)
    bytecode.alloc_adt r3, 7()
    bytecode.alloc_closure r3, @other(r1)
    bytecode.get_field r4, r3[1]
    bytecode.if r1 1, 4
    bytecode.if r1 eq r2 1, -4
    bytecode.goto -3
    bytecode.load_const r1, @const_3 on #relay.device<cuda:1>
    bytecode.load_consti r1, -7
    bytecode.get_tag r4, r3
    bytecode.fatal
    bytecode.alloc_storage r1, 140 align 64 on #relay.device<cpu:0>
    bytecode.alloc_storage r1, r5 align 128 on #relay.device<cuda:1>
    bytecode.slice_storage r2, r1[64] size r5 align 64
    bytecode.slice_storage r2, r1[r5] size 8 align 64
    bytecode.shape_of r2, r1
    bytecode.compute r2, "muli"(r5, r6)
    bytecode.compute r2, "from_elements"()
    bytecode.compute r2, "slice_length"(r1, r2, r3, r4)
    bytecode.require "eq" r5, r6, "\\"{0}\\" is not {1}"()
    bytecode.require "divisible" r5, r6, "{0} of {2}"(r2, r1)
    bytecode.pack r2, (r5, r6, r7) align 64 lifetimes [0, 2, 1, 3, 1, 2] sizes (r3, 8, r4) arms [1, 0, 0, 2, 0, 1]
    bytecode.pack r2, (r5) align 1 lifetimes [0, 1] sizes (7)
    bytecode.reshape_tensor r2, r1 to [2, 2]
    bytecode.reshape_tensor r2, r1 to []
    bytecode.reshape_tensor r2, r1 to r5
    bytecode.slice_tensor r2, r1[3] axis 1 to [1, 2, 4]
    bytecode.slice_tensor r2, r1[r5] axis 0 to r6
    bytecode.join_tensors r3, (r1, r2) to [2, 4]
    bytecode.join_tensors r3, (r1, r2) to r6
    bytecode.copy_rows r1[3] -> r2[r5] axis 1 rows 2
    bytecode.device_copy r1 -> r2 from #relay.device<cpu:0> to #relay.device<cuda:1>
    bytecode.kill_register r8
    bytecode.kill_storage r8
    bytecode.read_rows r1[-2] -> r2 axis 1 fill r3
    bytecode.take_rows r3, r2[64], r1[r5] axis 0 : tensor<2x4xf32>
    bytecode.write_rows r1[0] -> r2[r5] axis 1 rows 4
    bytecode.fill_rows r3 -> r2[r5] axis 1 bound r6
    bytecode.invoke_packed @k(r0) -> (r2) turn r4 in [1, 3]
    bytecode.alloc_ref r3, r1
    bytecode.read_ref r4, r3
    bytecode.write_ref r3, r2
    bytecode.ret r3
  }
  bytecode.func @other ("a" : tensor<f32, #relay.device<cpu:0>>, "b" : tensor<4xi1, #relay.device<cuda:1>>) -> () registers 2 {
    bytecode.ret r0
  }
  bytecode.kernel @k (tensor<8x4xf32>, tensor<16x4xf32>) -> [4, 3] {
    bytecode.kernel_constant dense<1.0> : tensor<f32>
    bytecode.step "relay.nn.dense" [0, 1] -> [3] : (tensor<8x16xf32>)
    bytecode.step "relay.nn.softmax" [3] -> [4] : (tensor<8x16xf32>) with {axis = -1 : i64}
    bytecode.step "relay.cast" [2] -> [5] : (tensor<i32>) with {dtype = i32}
    bytecode.step "relay.sum" [0] -> [6] : (tensor<1x1xf32>) with {axis = array<i64: 0, 1>, exclude = false, keepdims = true}
    bytecode.step "relay.nn.gelu" [0] -> [7] : (tensor<8x4xf32>) with {approximate = "tanh"}
    bytecode.step "relay.nn.leaky_relu" [0] -> [8] : (tensor<8x4xf32>) with {alpha = 0.25 : f64}
    bytecode.step "relay.split" [0] -> [9, 10] : (tensor<4x4xf32>, tensor<4x4xf32>) with {indices_or_sections = 2 : i64, axis = 0 : i64}
  }
  bytecode.kernel @same (tensor<4xf32>, tensor<2xi64>) host [1] -> [0] {
  }
}
"""  # noqa: E501


def everything() -> ModuleOp:
    module = parse(EVERYTHING)
    verify(module)
    return module


def test_text_of_a_program_is_the_text_it_was_made_of():
    module = everything()
    again = disassemble(assemble(module))
    verify(again)
    assert printed(again) == printed(module)
    assert again.is_structurally_equivalent(module)


def test_program_of_a_text_is_the_program_it_was_made_of():
    program = assemble(everything())
    assert contents(assemble(disassemble(program))) == contents(program)
    assert contents(assemble(parse(printed(disassemble(program))))) == contents(program)


def test_lines_of_a_listing_are_the_instructions_of_the_dialect():
    module = everything()
    text = listing(assemble(module))
    lines = iter(re.findall(r"^ *\d+: (.*)$", text, re.M))
    copied = [
        f"    bytecode.{next(lines)}" if line.startswith("    bytecode.") and in_function else line
        for line, in_function in _lines_of_functions(EVERYTHING)
    ]
    assert list(lines) == []
    assert parse("\n".join(copied)).is_structurally_equivalent(module)


def _lines_of_functions(text: str) -> Iterator[tuple[str, bool]]:
    """Yield the lines of a module, each with whether it is in a function."""
    in_function = False
    for line in text.splitlines():
        if line.startswith("  bytecode."):
            in_function = line.startswith("  bytecode.func")
        yield line, in_function


def test_every_instruction_is_there():
    used = {type(op) for op in everything().walk() if isinstance(op, bytecode.Instruction)}
    assert used == set(bytecode.INSTRUCTIONS.values())


def test_what_the_machine_gets():
    program = assemble(everything())
    assert program.devices == ("cpu:0", "cuda:1")
    main = program.functions[0]
    assert [(p.name, p.spec, p.device) for p in main.params] == [
        ("x", TensorSpec("float32", (4, None)), 0),
        ("t", None, 1),
    ]
    assert main.register_count == 9
    assert main.instructions[1] == instructions.Invoke(4, 1, (0, 1))
    assert main.instructions[5] == instructions.AllocTensor(2, 1, Reg(5), (), "float64")
    assert main.instructions[7] == instructions.AllocTensorReg(2, 1, Reg(6), 5, "bool")
    assert main.instructions[13] == instructions.If(1, 2, 1, -4)
    assert main.instructions[15] == instructions.LoadConst(1, 3, 1)
    assert main.instructions[24] == instructions.Compute(2, "muli", (5, 6))
    assert main.instructions[27] == instructions.Require("eq", 5, 6, '"{0}" is not {1}', ())
    assert main.instructions[33] == instructions.ReshapeTensor(2, 1, Reg(5))
    assert main.instructions[29] == instructions.Pack(
        2,
        (5, 6, 7),
        64,
        (0, 2, 1, 3, 1, 2),
        (instructions.Reg(3), 8, instructions.Reg(4)),
        (1, 0, 0, 2, 0, 1),
    )
    assert main.instructions[30] == instructions.Pack(2, (5,), 1, (0, 1), (7,))
    assert [k.host_ins for k in program.kernels] == [(), (1,)]
    assert program.late_constants == (Late("w", TensorSpec("float16", (4, None))),)
    bits = program.constants[1]
    assert isinstance(bits, np.ndarray)
    np.testing.assert_array_equal(bits, np.array([[True, False]]))
    kernel = program.kernels[0]
    assert [dict(step.attrs) for step in kernel.steps] == [
        {},
        {"axis": -1},
        {"dtype": "int32"},
        {"axis": (0, 1), "exclude": False, "keepdims": True},
        {"approximate": "tanh"},
        {"alpha": 0.25},
        {"indices_or_sections": 2, "axis": 0},
    ]
    assert kernel.outs == (TensorSpec("float32", (8, 16)), TensorSpec("float32", (8, 16)))


def test_a_program_without_devices_is_on_the_host():
    assert assemble(ModuleOp([])).devices == ("cpu:0",)


FUNCTION = "bytecode.func @f () registers 2 {{\n{}\nbytecode.ret r0\n}}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @f() {\nfunc.return\n}", "func.func is not bytecode; run lower-to-bytecode"),
        (FUNCTION.format("bytecode.invoke r0, @g()"), "@g is not a function of this program"),
        (
            FUNCTION.format("bytecode.invoke_packed @f() -> ()"),
            "@f is not a kernel of this program",
        ),
        (
            FUNCTION.format("bytecode.load_const r0, @c on #relay.device<cpu:0>"),
            "@c is not a constant of this program",
        ),
        (
            FUNCTION.format("bytecode.alloc_storage r0, 4 align 64 on #relay.device<cuda:0>"),
            "#relay.device<cuda:0> is not among the module's bytecode.devices",
        ),
        (
            FUNCTION.format("bytecode.alloc_tensor r0, r1[0] : tensor<4xcomplex<f32>>"),
            "the machine has no elements of type complex<f32>",
        ),
        (
            FUNCTION.format("bytecode.alloc_tensor_reg r0, r1[0] shape r0 : none"),
            "the machine has no elements of type none",
        ),
        (
            "bytecode.constant @c dense<1> : tensor<i3>",
            "the machine has no tensors of type tensor<i3>",
        ),
        (
            f"bytecode.constant @c dense<1> : tensor<{'1x' * 65}i8>",
            "the machine has no tensors of type tensor<1x1",
        ),
        (
            f"bytecode.kernel @k (tensor<{'1x' * 65}i8>) -> [0] {{\n}}",
            "the machine has no tensors of type tensor<1x1",
        ),
        (
            'bytecode.func @f ("x" : tensor<f32, #relay.device<cuda:0>>) registers 1 {\n'
            "bytecode.ret r0\n}",
            "#relay.device<cuda:0> is not among the module's bytecode.devices",
        ),
        (
            'bytecode.kernel @k (tensor<f32>) -> [1] {\nbytecode.step "relay.exp" [0] -> [1] : '
            "(tensor<f32>) with {a = unit}\n}",
            "a of relay.exp must be an integer, float, string, array or element type",
        ),
    ],
)
def test_errors(text: str, message: str):
    module = parse(text)
    with pytest.raises(PassError) as raised:
        assemble(module)
    assert message in str(raised.value)
    assert raised.value.op is not None


def test_constants_are_not_copied():
    module = parse("bytecode.constant @c dense<[1.0, 2.0]> : tensor<2xf32>")
    (constant,) = assemble(module).constants
    assert isinstance(constant, np.ndarray)
    array: Array = constant
    assert not array.flags.writeable
