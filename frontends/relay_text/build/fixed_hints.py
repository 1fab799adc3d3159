"""
Hints that constrain their result, too: those bound by a `let`, and the result of a function.

    let %y = on_device(%x, …);    ->    let %y = on_device(%x, …, constrain_result=True);
    let %a = on_device(%t, …).0;  ->    let %a = on_device(%t.0, …, constrain_result=True);

TVM's planner does so, and treats a field of a hinted tuple as a hinted field. A hint that other
expressions share stays as it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from ..text import syntax as ast
from .binding_scopes import Scopes


class FixedHints:
    """The values of statements and bindings, with their hints fixed."""

    def __init__(self, scopes: Scopes):
        self._scopes = scopes
        self._bound: dict[ast.Binding, ast.Expr] = {}
        self._results: dict[ast.Body, ast.Expr] = {}

    def value(self, binding: ast.Binding) -> ast.Expr:
        return self._bound.get(binding, binding.value)

    def result(self, body: ast.Body) -> ast.Expr:
        if body not in self._results:
            result = body.result
            self._results[body] = result if ast.has_lets(body) else self.fixed(result)
        return self._results[body]

    def fixed(self, expr: ast.Expr) -> ast.Expr:
        """Return `expr`, the value of a `let` or the result of a function, with its hint fixed."""
        if isinstance(expr, ast.Node):
            if len(self._scopes.uses[expr.binding]) == 1:
                self._bound[expr.binding] = self.fixed(self.value(expr.binding))
        elif isinstance(expr, ast.Body):
            if not ast.has_lets(expr):
                body = replace(expr, result=self.fixed(expr.result))
                self._scopes.refs[body] = self._scopes.refs[expr]
                return body
        elif isinstance(expr, ast.Projection):
            hint, field = self._take_off_hint(expr)
            if hint is not None:
                return self.fixed(replace(hint, args=(field,)))
        elif is_hint(expr):
            return replace(expr, attrs={**expr.attrs, "constrain_result": True})
        return expr

    def _take_off_hint(self, projection: ast.Projection) -> tuple[ast.Call | None, ast.Expr]:
        """Return the hint on the tuple that `projection` reads, if any, and the unhinted field."""
        chain: list[ast.Projection | ast.Node] = []
        expr: ast.Expr = projection
        while isinstance(expr, ast.Projection | ast.Node):
            chain.append(expr)
            if isinstance(expr, ast.Projection):
                expr = expr.tuple
            elif len(self._scopes.uses[expr.binding]) == 1:
                expr = self.value(expr.binding)
                if isinstance(expr, ast.Node):
                    return None, projection
            else:
                return None, projection
        if not is_hint(expr) or expr.attrs.get("constrain_result") or len(expr.args) != 1:
            return None, projection
        bare = expr.args[0]
        for link in reversed(chain):
            if isinstance(link, ast.Projection):
                bare = replace(link, tuple=bare)
            else:
                self._bound[link.binding] = bare
                bare = link
        return expr, bare


def is_hint(expr: ast.Expr) -> TypeGuard[ast.Call]:
    """Test whether `expr` is an `on_device` that constrains its operand."""
    if not isinstance(expr, ast.Call) or expr.name != "on_device":
        return False
    return bool(expr.attrs.get("constrain_body", True))
