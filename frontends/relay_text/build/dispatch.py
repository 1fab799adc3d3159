"""The rule that builds each class of nodes: how one expression becomes IR."""

from __future__ import annotations

from collections.abc import Mapping

from ..text import syntax as ast
from . import call_rules, expression_rules, function_rules, generic_rules, match_rules, tuple_rules
from .build_context import Rule

RULES: Mapping[type, Rule] = {
    ast.Use: expression_rules.use,
    ast.Node: expression_rules.node,
    ast.Scalar: expression_rules.scalar,
    ast.Dense: expression_rules.dense,
    ast.Tuple: tuple_rules.tuple_,
    ast.Projection: tuple_rules.projection,
    ast.Global: function_rules.global_value,
    ast.Function: function_rules.closure_value,
    ast.Name: call_rules.name_value,
    ast.Call: call_rules.call,
    ast.If: expression_rules.if_,
    ast.Match: match_rules.match,
    ast.Cell: expression_rules.cell,
    ast.Body: function_rules.body_value,
    ast.Statement: expression_rules.statement,
    ast.Binding: generic_rules.binding,
}
