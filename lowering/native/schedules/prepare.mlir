// Generic ops in place of named ones, and buffers of their own for padded images.
//
// %func, the function, is also the handle of all later steps.
%given = transform.structured.match ops{["func.func"]} in %kernel : (!op) -> !op
%func = transform.apply_registered_pass "linalg-generalize-named-ops" to %given : (!op) -> !op

// Nothing else is a named op any more, so fills and copies are those of the padding. They stay
// loops: the tools turn these into memset and memcpy.
%pads = transform.structured.match ops{["tensor.pad"]} in %func : (!op) -> !op
%padded, %of_pads = transform.structured.bufferize_to_allocation %pads
    {memory_space = 0, alloc_op = "memref.alloc", memcpy_op = "linalg.copy"} : !op
%borders = transform.structured.match ops{["linalg.fill", "linalg.copy"]} in %func : (!op) -> !op
%border_loops = transform.structured.convert_to_loops %borders : (!op) -> !op
