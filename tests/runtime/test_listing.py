"""Programs as text."""

import numpy as np
from machine_programs import call, f32, function, kernel, program

from xrelay.runtime import instructions as vm
from xrelay.runtime.instructions import Reg
from xrelay.runtime.listing import listing
from xrelay.runtime.program import Kernel, Late, Step


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
        "    0: alloc_storage $3, 8, align 64, cpu:0\n"
        "    1: alloc_tensor $2, $3[0], float32[2]\n"
        "    2: invoke_packed fused in: $0, $0 out: $2\n"
        "    3: ret $2\n"
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
        vm.AllocRef(1, 0),
        vm.ReadRef(1, 0),
        vm.WriteRef(1, 0),
        vm.InvokePacked(0, (), ()),
        vm.Fatal(),
        vm.SliceStorage(1, 2, Reg(3), 8, 64),
        vm.Ret(0),
    ]
    assert {type(i) for i in code} == set(vm.MNEMONICS)
    main = function([], *code)
    add = kernel("add", [f32(), f32()], f32())
    text = listing(program(main, kernels=[add], constants=[np.zeros(1)], devices=["cpu", "gpu"]))
    assert text.partition("registers\n")[2].splitlines() == [
        "    0: move $1, $0",
        "    1: invoke $1, main($0, $2)",
        "    2: invoke_closure $1, $2($0)",
        "    3: alloc_storage $1, $2, align 64, gpu",
        "    4: alloc_tensor $1, $2[$3], int8[]",
        "    5: alloc_tensor_reg $1, $2[16], int8 $3",
        "    6: alloc_adt $1, tag 3($0, $2)",
        "    7: alloc_closure $1, main($2)",
        "    8: get_field $1, $0.2",
        "    9: if $1, 10, 11",
        "   10: if $1 == $2, 9, 11",
        "   11: load_const $1, const 0, gpu",
        "   12: load_consti $1, -5",
        "   13: goto 10",
        "   14: get_tag $1, $0",
        "   15: shape_of $1, $0",
        "   16: compute $1, muli($0, $2)",
        '   17: require $0 eq $1, "{0} \\"is\\" {2}" ($2)',
        '   18: require $0 eq $1, "no"',
        "   19: pack $1, $2, $3, align 64, [0, 2) $2 in (0:0) [1, 4) 8 in (0:1)",
        "   20: reshape_tensor $1, $0, [2, 3]",
        "   21: reshape_tensor $1, $0, $2",
        "   22: device_copy $1, $0, cpu to gpu",
        "   23: kill_register $1",
        "   24: alloc_ref $1, $0",
        "   25: read_ref $1, $0",
        "   26: write_ref $1, $0",
        "   27: invoke_packed add in:  out:",
        "   28: fatal",
        "   29: slice_storage $1, $2[$3], 8, align 64",
        "   30: ret $0",
    ]
