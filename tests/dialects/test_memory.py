"""Ops of `memory` that passes create."""

from xdsl.dialects.builtin import f32

from xrelay.dialects import memory
from xrelay.dialects.device import CPU, tensor_type


def test_a_static_tensor_is_the_one_at_offset_0():
    type = tensor_type(f32, [4], CPU)
    storage = memory.AllocStorageOp(16, 64, CPU).storage
    made, checked = (
        memory.AllocTensorOp.static(storage, type),
        memory.AllocTensorOp(storage, 0, type),
    )
    made.verify()
    assert made.is_structurally_equivalent(checked)
    made.properties.clear()
    memory.AllocTensorOp.static(storage, type).verify()
