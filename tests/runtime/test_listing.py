"""Programs as text."""

import numpy as np
from helpers.programs.machine_programs import call, f32, function, kernel, program

from xrelay.runtime.program import instructions as vm
from xrelay.runtime.program.instructions import Reg
from xrelay.runtime.program.listing import listing
from xrelay.runtime.program.program import Kernel, Late, Step


def test_a_program():
    text = listing(
        program(
            function([f32(2), None], *call(0, [0, 0], 2, 2), vm.Ret(2), registers=4),
            kernels=[
                Kernel(
                    "fused",
                    (f32(2), f32(2)),
                    (np.array([1, 2], np.float32),),
                    (f32(2), f32(2)),
                    (Step("relay.add", {}, (0, 1), (3,)), Step("my.op", {"axis": 1}, (3, 2), (4,))),
                    (4, 0),
                )
            ],
            constants=[np.zeros((2, 3), np.int8), Late("w", f32(5))],
            devices=["cpu:0", "cuda:0"],
        )
    )
    assert text == (
        "device 0: cpu:0\n"
        "device 1: cuda:0\n"
        "constant 0: int8[2, 3]\n"
        "constant 1: float32[5] 'w'\n"
        "\n"
        "kernel fused(%0: float32[2], %1: float32[2])\n"
        "    %2 = float32[2] [1.0, 2.0]\n"
        "    %3 = relay.add(%0, %1): float32[2]\n"
        "    %4 = my.op(%3, %2) {axis=1}: float32[2]\n"
        "    return %4, %0\n"
        "\n"
        "function main(x0: float32[2] @cpu:0, x1: any @cpu:0)  # 4 registers\n"
        "    0: alloc_storage r3, 8 align 64 on #relay.device<cpu:0>\n"
        "    1: alloc_tensor r2, r3[0] : tensor<2xf32>\n"
        "    2: invoke_packed @fused(r0, r0) -> (r2)\n"
        "    3: ret r2\n"
    )


def test_every_instruction():
    code = [
        vm.Move(1, 0),
        vm.Invoke(1, 0, (0, 2)),
        vm.InvokeClosure(1, 2, (0,)),
        vm.AllocStorage(1, Reg(2), 64, 1),
        vm.AllocTensor(1, 2, Reg(3), (), "int8"),
        vm.AllocTensorReg(1, 2, 16, 3, "int8"),
        vm.AllocADT(1, 3, (0, 2)),
        vm.AllocClosure(1, 0, (2,)),
        vm.GetField(1, 0, 2),
        vm.If(1, None, 1, 2),
        vm.If(1, 2, -1, 1),
        vm.LoadConst(1, 0, 1),
        vm.LoadConsti(1, -5),
        vm.Goto(-3),
        vm.GetTag(1, 0),
        vm.ShapeOf(1, 0),
        vm.Compute(1, "muli", (0, 2)),
        vm.Require("eq", 0, 1, '{0} "is" {2}', (2,)),
        vm.Require("eq", 0, 1, "no"),
        vm.Pack(1, (2, 3), 64, (0, 2, 1, 4), (Reg(2), 8), (0, 0, 0, 1, 0, 1)),
        vm.ReshapeTensor(1, 0, (2, 3)),
        vm.ReshapeTensor(1, 0, Reg(2)),
        vm.DeviceCopy(0, 1, 0, 1),
        vm.KillRegister(1),
        vm.KillStorage(1),
        vm.AllocRef(1, 0),
        vm.ReadRef(1, 0),
        vm.WriteRef(1, 0),
        vm.InvokePacked(0, (), (), 2, (0, 3)),
        vm.Fatal(),
        vm.SliceStorage(1, 2, Reg(3), 8, 64),
        vm.SliceTensor(1, 2, 3, Reg(4), 1),
        vm.JoinTensors(1, (2, 3), Reg(4)),
        vm.CopyRows(1, Reg(4), 2, 0, 1, 3),
        vm.ReadRows(1, -2, 2, 1, 3),
        vm.WriteRows(1, 0, 2, Reg(4), 1, 3),
        vm.FillRows(1, 2, Reg(4), 1, 7),
        vm.TakeRows(1, 2, 64, 3, Reg(4), 1, (1, 2), "int8"),
        vm.Ret(0),
    ]
    assert {type(i) for i in code} == set(vm.INSTRUCTIONS.values())
    main = function([], *code, name="the main")
    add = kernel("add", [f32(), f32()], f32())
    text = listing(program(main, kernels=[add], constants=[np.zeros(1)], devices=["cpu", "gpu"]))
    assert text.partition("registers\n")[2].splitlines() == [
        "    0: move r1, r0",
        '    1: invoke r1, @"the main"(r0, r2)',
        "    2: invoke_closure r1, r2(r0)",
        "    3: alloc_storage r1, r2 align 64 on #relay.device<gpu>",
        "    4: alloc_tensor r1, r2[r3] : tensor<i8>",
        "    5: alloc_tensor_reg r1, r2[16] shape r3 : i8",
        "    6: alloc_adt r1, 3(r0, r2)",
        '    7: alloc_closure r1, @"the main"(r2)',
        "    8: get_field r1, r0[2]",
        "    9: if r1 1, 2  // to 10 or 11",
        "   10: if r1 eq r2 -1, 1  // to 9 or 11",
        "   11: load_const r1, @const_0 on #relay.device<gpu>",
        "   12: load_consti r1, -5",
        "   13: goto -3  // to 10",
        "   14: get_tag r1, r0",
        "   15: shape_of r1, r0",
        '   16: compute r1, "muli"(r0, r2)',
        '   17: require "eq" r0, r1, "{0} \\22is\\22 {2}"(r2)',
        '   18: require "eq" r0, r1, "no"()',
        "   19: pack r1, (r2, r3) align 64 lifetimes [0, 2, 1, 4] sizes (r2, 8) "
        "arms [0, 0, 0, 1, 0, 1]",
        "   20: reshape_tensor r1, r0 to [2, 3]",
        "   21: reshape_tensor r1, r0 to r2",
        "   22: device_copy r0 -> r1 from #relay.device<cpu> to #relay.device<gpu>",
        "   23: kill_register r1",
        "   24: kill_storage r1",
        "   25: alloc_ref r1, r0",
        "   26: read_ref r1, r0",
        "   27: write_ref r1, r0",
        "   28: invoke_packed @add() -> () turn r2 in [0, 3]",
        "   29: fatal",
        "   30: slice_storage r1, r2[r3] size 8 align 64",
        "   31: slice_tensor r1, r2[3] axis 1 to r4",
        "   32: join_tensors r1, (r2, r3) to r4",
        "   33: copy_rows r1[r4] -> r2[0] axis 1 rows 3",
        "   34: read_rows r1[-2] -> r2 axis 1 fill r3",
        "   35: write_rows r1[0] -> r2[r4] axis 1 rows 3",
        "   36: fill_rows r1 -> r2[r4] axis 1 bound 7",
        "   37: take_rows r1, r2[64], r3[r4] axis 1 : tensor<1x2xi8>",
        "   38: ret r0",
    ]


def test_element_types():
    names = ("bool", "float16", "float64", "int64", "uint8")
    main = function([], *(vm.AllocTensor(0, 1, 0, (2, 3), name) for name in names))
    lines = listing(program(main)).partition("registers\n")[2].splitlines()
    assert [line.rpartition("tensor<")[2] for line in lines] == [
        *("2x3xi1>", "2x3xf16>", "2x3xf64>", "2x3xi64>", "2x3xui8>")
    ]
