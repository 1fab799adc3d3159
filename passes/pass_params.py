"""
Pass the weights of a program to its functions as arguments.

    func.func @main(%x: T) -> T {
      %0 = func.call @layer(%x) : (T) -> T
      …
    }
    func.func private @layer(%x: T) -> T {
      %w = relay.param "w" : U
      …
    }
    ->
    func.func @main(%x: T, %w: U {relay.name = "w"}) -> T {
      %0 = func.call @layer(%x, %w) : (T, U) -> T
      …
    }
    func.func private @layer(%x: T, %w: U {relay.name = "w"}) -> T {
      …
    }

A function gets the params that it and the functions it calls name, each once, after its own
parameters, in the order of first use. A function that is used as a value, or is generic, cannot
get more parameters: what it and its callees name stays. Level `relay`; the level stays.
"""

from collections.abc import Mapping

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import DictionaryAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute
from xdsl.pattern_rewriter import PatternRewriter

from ..dialects import relay
from ..dialects.relay.language.annotations import NAME, TYPE_PARAMS
from ..dialects.xdsl_extras.walking import walk
from .functions.signatures import insert_parameters
from .functions.symbols import CallGraph
from .support.changes import LevelPass
from .support.rewriting import rewrite_each

Params = Mapping[str, Attribute]
"""The types of params, by their names, in order."""


def params_in(function: func.FuncOp) -> dict[str, Attribute]:
    """Return the params that ops in `function` name."""
    params: dict[str, Attribute] = {}
    for op in walk(function):
        if isinstance(op, relay.ParamOp):
            params.setdefault(op.param.data, op.result.type)
    return params


def with_fixed_parameters(module: ModuleOp) -> set[str]:
    """Return the names of the functions that cannot get parameters: with these, what they call."""
    values = {
        op.callee.string_value()
        for op in walk(module)
        if isinstance(op, relay.GlobalOp | relay.ClosureOp)
    }
    generic = {
        op.sym_name.data
        for op in module.ops
        if isinstance(op, func.FuncOp) and TYPE_PARAMS in op.attributes
    }
    return CallGraph.of(module).reachable(values | generic)


def params_to_pass(module: ModuleOp) -> dict[str, Params]:
    """Return the params that each function shall get."""
    graph, fixed = CallGraph.of(module), with_fixed_parameters(module)
    own = {
        op.sym_name.data: params_in(op)
        for op in module.ops
        if isinstance(op, func.FuncOp) and op.sym_name.data not in fixed
    }
    passed: dict[str, Params] = {}
    for component in graph.components():  # callees first
        names = [name for name in component if name in own]
        together: dict[str, Attribute] = {}
        for name in names:
            together |= own[name]
        for name in names:
            for callee in graph.named[name]:
                together |= {
                    param: type
                    for param, type in passed.get(callee, {}).items()
                    if param not in together
                }
        passed |= dict.fromkeys(names, together)
    return {name: params for name, params in passed.items() if params}


def pass_params(
    function: func.FuncOp, params: Mapping[str, Params], rewriter: PatternRewriter
) -> None:
    """Give a function a parameter for each of its `params`; it passes on those of its callees."""
    own = params[function.sym_name.data]
    entries = [DictionaryAttr({NAME: StringAttr(name)}) for name in own]
    added = insert_parameters(function, len(function.args), [*own.values()], entries)
    arguments = dict(zip(own, added, strict=True))
    for op in [*walk(function)]:
        if isinstance(op, relay.ParamOp):
            rewriter.replace(op, [], [arguments[op.param.data]])
        elif isinstance(op, func.CallOp | relay.InvokeOp):
            passed = params.get(op.callee.string_value(), ())
            op.operands = [*op.operands, *(arguments[name] for name in passed)]
    rewriter.notify_op_modified(function)


class PassParamsPass(LevelPass):
    name = "pass-params"
    accepts = "relay"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        params = params_to_pass(op)
        functions = [f for f in op.ops if isinstance(f, func.FuncOp) and f.sym_name.data in params]
        rewrite_each(functions, lambda f, rewriter: pass_params(f, params, rewriter))
