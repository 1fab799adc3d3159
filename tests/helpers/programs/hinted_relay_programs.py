"""
Random Relay text with random device hints: data, references, closures, global functions, recursion.

Tensors have four elements, or, in open programs, a size that is known only when they run.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

import numpy as np


def types(size: str) -> dict[str, str]:
    """Return the kinds of values, and their types."""
    vector = f"Tensor[({size}), float32]"
    kinds = {
        "tensor": vector,
        "pair": f"({vector}, {vector})",
        "nest": f"(({vector}, {vector}), List[{vector}])",
        "list": f"List[{vector}]",
        "option": f"Option[{vector}]",
        "cell": f"ref({vector})",
        "flag": "bool",
        "function": f"fn ({vector}) -> {vector}",
        "curried": f"fn ({vector}) -> fn ({vector}) -> {vector}",
    }
    return kinds if size == "4" else kinds | {"size": "int64", "matrix": "Tensor[(?, ?), float32]"}


OPEN_TENSORS = (
    "arange(0f, cast({size}, dtype='float32'), 1f, dtype='float32')",
    "dyn.strided_slice({tensor}, {shape}, {shape}, {one})",
    "dyn.strided_slice({tensor}, {zero}, {shape}, {two})",
    "dyn.broadcast_to(sum({tensor}, keepdims=True), {shape})",
    "dyn.full(sum({tensor}), {shape})",
    "dyn.zeros({shape}, dtype='float32')",
    "dyn.topk({tensor}, {size}, ret_type='values', dtype='int32')",
    "dyn.squeeze(expand_dims({tensor}, axis=0), {zero})",
    "dyn.reshape({matrix}, {rest})",
    "dyn.reshape({tensor}, shape_of({tensor}, dtype='int64'))",
    "cast(reshape(argwhere({tensor}), newshape=[-1]), dtype='float32')",
    "cast(reshape(argwhere(less({tensor}, 0f)), newshape=[-1]), dtype='float32')",
    "unique({tensor}).0",
    "reshape({matrix}, newshape=[-1])",
    "sum({matrix}, axis=[1])",
    "max(nn.pad({matrix}, 1f, pad_width=[[0, 0], [0, 1]]), axis=[0], exclude=True)",  # not empty
    "take({tensor}, arange(0i64, {size}, 1i64, dtype='int64'), mode='clip')",
    "reshape(nn.dense({matrix}, expand_dims({tensor}, axis=0)), newshape=[-1])",
    "where(less({tensor}, 0f), {tensor}, {tensor})",
)
GROWING = (
    "concatenate(({tensor}, {tensor}))",
    "dyn.tile({tensor}, {shape})",
    "dyn.nn.pad({tensor}, expand_dims(stack(({size}, {size})), axis=0), 0f)",
)
"""Vectors that are cut, so that no program needs much memory."""
MATRICES = (
    "stack(({tensor}, {tensor}))",
    "expand_dims({tensor}, axis=0)",
    "dyn.expand_dims({tensor}, 1i64)",
    "transpose({matrix})",
    "add({matrix}, sum({tensor}))",
    "dyn.reshape({tensor}, concatenate(({one}, {rest})))",
    "dyn.one_hot(cast(less({tensor}, 0f), dtype='int32'), 1f, 0f, {size}, "
    "axis=-1, dtype='float32')",
    "dyn.ones(stack(({size}, {size})), dtype='float32')",
)
SIZES = (
    "take(shape_of({tensor}, dtype='int64'), 0i64)",
    "take(shape_of({matrix}, dtype='int64'), 1i64)",
    "sum(cast(less(0f, {tensor}), dtype='int64'))",
    "minimum({size}, {size})",
    "minimum(add({size}, {size}), 5i64)",
    "prod(shape_of({tensor}, dtype='int64'))",
)
VALUES = {"size": SIZES, "matrix": MATRICES, "shape": ("reshape({size}, newshape=[1])",)} | {
    name: (f"reshape({value}i64, newshape=[1])",)
    for name, value in {"zero": 0, "one": 1, "two": 2, "rest": -1}.items()
}
"""Forms of the values that only open programs have."""

METADATA = """
#[metadata]
{"root": 1, "nodes": [
  {"type_key": ""},
  {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
  {"type_key": "Array", "data": [3, 4]},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "1", "virtual_device_id": "0", "target": "0", "memory_scope": "0"}},
  {"type_key": "VirtualDevice", "attrs": {"device_type_int": "2", "virtual_device_id": "0", "target": "0", "memory_scope": "0"}}
]}
"""  # noqa: E501
DEVICES = ("virtual_device=meta[VirtualDevice][0]", "virtual_device=meta[VirtualDevice][1]")
FORMS = (
    ", {device}",
    ", {device}, constrain_result=True",
    ", {device}, constrain_result=True, constrain_body=False",
    ", constrain_body=False",
)
"""The four forms of a hint."""

Scope = list[tuple[str, str]]
"""A name in scope and its kind."""


class RelayProgram:
    """A random program whose `@main` has parameters `%c: bool` and vectors `%x` and `%y`."""

    def __init__(self, rng: Random, is_open: bool = False):
        self.rng = rng
        self.is_open = is_open
        self.types = types("?" if is_open else "4")
        self.hinted = rng.choice((0.05, 0.15, 0.3))
        self.count = 0
        self.functions: list[tuple[str, list[str]]] = []
        definitions = [self.definition(f"@f{i}") for i in range(rng.randrange(3))]
        main = self.block([("%c", "flag"), ("%x", "tensor"), ("%y", "tensor")], "tensor", 4)
        result, type = self.annotation(", {}"), self.types["tensor"]
        head = f"def @main(%c: bool, %x: {type}, %y: {type}{result}) -> {type}"
        definitions.append(f"{head} {{\n  {main}\n}}\n")
        self.text = '#[version = "0.0.5"]\n' + "".join(definitions) + METADATA

    def definition(self, name: str) -> str:
        """A global function, which later ones may call; some call themselves, up to three times."""
        kinds = self.rng.choices(("tensor", "pair", "list", "function"), k=self.rng.randrange(1, 4))
        scope = [(f"%{name[1:]}_{i}", kind) for i, kind in enumerate(["tensor", "flag", *kinds])]
        is_recursive = self.rng.random() < 0.5
        types = [("%i: int32")] if is_recursive else []
        types += [f"{p}{self.annotation(' {{{}}}')}: {self.types[kind]}" for p, kind in scope]
        head = f"def {name}({', '.join(types)}{self.annotation(', {}')}) -> {self.types['tensor']}"
        if is_recursive:
            again = ", ".join(self.value(scope, kind, 2) for _, kind in scope)
            again = f"{name}(subtract(%i, 1), {again})"
            if self.rng.random() < 0.5:
                again = f"negative({again})"
            body = f"if (less(0, %i)) {{ {again} }} else {{ {self.block(scope, 'tensor', 2)} }}"
        else:
            body = self.block(scope, "tensor", 3)
        self.functions.append((name, ["steps"] * is_recursive + [kind for _, kind in scope]))
        return f"{head} {{\n  {body}\n}}\n"

    def annotation(self, form: str) -> str:
        return form.format(self.rng.choice(DEVICES)) if self.rng.random() < 0.2 else ""

    def fresh(self) -> str:
        self.count += 1
        return f"%v{self.count}"

    def some(self, scope: Scope, kind: str) -> str | None:
        known = [name for name, other in scope if other == kind]
        return self.rng.choice(known) if known else None

    def block(self, scope: Scope, kind: str, depth: int) -> str:
        """Statements and a final expression."""
        scope, lines = list(scope), list[str]()
        for _ in range(self.rng.randrange(3 if depth > 0 else 1)):
            name, cell = self.fresh(), self.some(scope, "cell")
            if cell is not None and self.rng.random() < 0.2:
                lines.append(
                    f"let {name} = ref_write({cell}, {self.value(scope, 'tensor', depth)});"
                )
                continue
            bound = self.rng.choice(("tensor", "tensor", *self.types))
            lines.append(f"let {name}: {self.types[bound]} = {self.value(scope, bound, depth)};")
            scope.append((name, bound))
        return " ".join([*lines, self.value(scope, kind, depth)])

    def value(self, scope: Scope, kind: str, depth: int) -> str:
        """An expression, perhaps with a hint; rarely on a value that cannot be copied."""
        text = self.plain(scope, kind, depth - 1)
        share = self.hinted * (1 if kind in ("tensor", "pair") else 0.1)
        if self.rng.random() >= share:
            return text
        return f"on_device({text}{self.rng.choice(FORMS).format(device=self.rng.choice(DEVICES))})"

    def plain(self, scope: Scope, kind: str, depth: int) -> str:
        known = self.some(scope, kind)
        if known is not None and (depth <= 0 or self.rng.random() < 0.35):
            return known

        def of(kind: str) -> str:
            return self.value(scope, kind, depth)

        match kind:
            case "tensor":
                return self.tensor(scope, depth, of)
            case "pair":
                return f"({of('tensor')}, {of('tensor')})"
            case "list":
                return f"Cons({of('tensor')}, {of('list') if depth > 0 else 'Nil'})"
            case "option":
                return f"Some({of('tensor')})"
            case "cell":
                return f"ref({of('tensor')})"
            case "nest":
                return f"({of('pair')}, {of('list')})"
            case "steps":
                return str(self.rng.randrange(4))
            case "size" if depth <= 0:
                return f"{self.rng.randrange(4)}i64"
            case "matrix" if depth <= 0:
                return f"expand_dims({self.some(scope, 'tensor')}, axis=0)"
            case _ if kind in VALUES:
                return self.form(VALUES[kind], of)
            case "flag":
                return f"less(sum({of('tensor')}), 1f)" if depth > 0 else "less(1f, 2f)"
            case "function":
                return self.function(scope, "tensor", depth)
            case _:
                return self.function(scope, "function", depth)

    def form(self, forms: Sequence[str], of: Callable[[str], str]) -> str:
        """Fill in one of `forms`."""
        return re.sub(r"\{(\w+)\}", lambda kind: of(kind[1]), self.rng.choice(forms))

    def function(self, scope: Scope, gives: str, depth: int) -> str:
        name = self.fresh()
        inner = [*scope, (name, "tensor")]
        body = (
            self.block(inner, "tensor", depth - 1)
            if gives == "tensor"
            else self.function(inner, "tensor", depth)
        )
        return f"fn ({name}: {self.types['tensor']}) -> {self.types[gives]} {{ {body} }}"

    def tensor(self, scope: Scope, depth: int, of: Callable[[str], str]) -> str:
        def inside(*more: tuple[str, str]) -> str:
            return self.block([*scope, *more], "tensor", depth - 1)

        if self.is_open and depth > 0 and self.rng.random() < 0.4:
            if self.rng.random() < 0.2:
                return f"strided_slice({self.form(GROWING, of)}, begin=[0], end=[6])"
            return self.form(OPEN_TENSORS, of)
        a, b = self.fresh(), self.fresh()
        match self.rng.randrange(12):
            case 0 | 1:
                return f"{self.rng.choice(('negative', 'tanh', 'abs'))}({of('tensor')})"
            case 2 | 3:
                operator = self.rng.choice(("add", "multiply", "maximum"))
                if self.is_open and self.rng.random() < 0.8:  # sizes may differ: an error
                    return f"{operator}({of('tensor')}, sum({of('tensor')}, keepdims=True))"
                return f"{operator}({of('tensor')}, {of('tensor')})"
            case 4:
                return f"add({of('tensor')}, {self.rng.randrange(5)}f)"
            case 5:
                pair = of("pair") if self.rng.random() < 0.7 else f"({of('nest')}).0"
                return f"({pair}).{self.rng.randrange(2)}"
            case 6:
                return f"if ({of('flag')}) {{ {inside()} }} else {{ {inside()} }}"
            case 7:
                some, nil = inside((a, "tensor"), (b, "list")), inside()
                data = f"Cons({of('tensor')}, {of('list')})"
                return f"(match ({data}) {{ Cons({a}, {b}) => {{ {some} }}, Nil => {{ {nil} }} }})"
            case 8:
                some, none = inside((a, "tensor")), inside()
                data = of("option")
                return f"(match ({data}) {{ Some({a}) => {{ {some} }}, None => {{ {none} }} }})"
            case 9:
                called = (
                    self.some(scope, "function") or f"({self.function(scope, 'tensor', depth)})"
                )
                return f"{called}({of('tensor')})"
            case 10:
                cell, curried = self.some(scope, "cell"), self.some(scope, "curried")
                if cell is not None:
                    return f"ref_read({cell})"
                if curried is not None:
                    return f"{curried}({of('tensor')})({of('tensor')})"
                return f"negative({of('tensor')})"
            case _:
                if not self.functions:
                    return f"@hd(@map({of('function')}, Cons({of('tensor')}, {of('list')})))"
                name, kinds = self.rng.choice(self.functions)
                return f"{name}({', '.join(map(of, kinds))})"


def inputs() -> list[np.ndarray]:
    """Arguments for `@main`."""
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    return [np.array(True), x, 2 - 3 * x]
