"""The fusion kind that the class of each operator of `relay` must declare."""

from xrelay.dialects.interfaces import FusionKind

KINDS = {
    FusionKind.ELEMWISE: """
        abs ceil floor round trunc sign negative exp log log2 log10 sqrt rsqrt sigmoid erf copy
        sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh
        logical_not isnan isfinite isinf nn.relu nn.leaky_relu nn.gelu clip cast full
        zeros ones dyn.zeros dyn.ones dyn.full""",
    FusionKind.BROADCAST: """
        add subtract multiply divide power maximum minimum mod floor_mod floor_divide
        logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal
        where nn.prelu nn.bias_add broadcast_to tile repeat
        dyn.broadcast_to dyn.tile""",
    FusionKind.INJECTIVE: """
        nn.pad reshape nn.batch_flatten expand_dims squeeze transpose concatenate stack split
        strided_slice take reverse nn.upsampling
        dyn.reshape dyn.squeeze dyn.expand_dims dyn.strided_slice dyn.nn.pad arange
        image.resize2d dyn.image.resize2d""",
    FusionKind.COMM_REDUCE: "sum mean max min prod all any argmax argmin",
    FusionKind.OUT_ELEMWISE_FUSABLE: """
        nn.dense nn.matmul nn.batch_matmul nn.conv2d nn.conv2d_transpose nn.max_pool2d
        nn.avg_pool2d nn.global_avg_pool2d nn.global_max_pool2d nn.lrn
        one_hot dyn.one_hot""",
    FusionKind.OPAQUE: """
        nn.softmax nn.log_softmax nn.layer_norm nn.batch_norm shape_of topk dyn.topk argwhere unique
        vision.get_valid_counts vision.non_max_suppression vision.all_class_non_max_suppression""",
}
"""The operators of each kind, without `relay.`."""
