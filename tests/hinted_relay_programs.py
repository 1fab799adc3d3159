"""Random Relay text with random device hints: data, references, closures, global functions."""

from collections.abc import Callable
from random import Random

import numpy as np

T = "Tensor[(4), float32]"
TYPES = {
    "tensor": T,
    "pair": f"({T}, {T})",
    "list": f"List[{T}]",
    "option": f"Option[{T}]",
    "cell": f"ref({T})",
    "flag": "bool",
    "function": f"fn ({T}) -> {T}",
    "curried": f"fn ({T}) -> fn ({T}) -> {T}",
}
"""The kinds of values, and their types."""

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
    """A random program whose `@main` has parameters `%c: bool, %x: T, %y: T` and returns a `T`."""

    def __init__(self, rng: Random):
        self.rng = rng
        self.hinted = rng.choice((0.05, 0.15, 0.3))
        self.count = 0
        self.functions: list[tuple[str, list[str]]] = []
        definitions = [self.definition(f"@f{i}") for i in range(rng.randrange(3))]
        main = self.block([("%c", "flag"), ("%x", "tensor"), ("%y", "tensor")], "tensor", 4)
        result = self.annotation(", {}")
        head = f"def @main(%c: bool, %x: {T}, %y: {T}{result}) -> {T}"
        definitions.append(f"{head} {{\n  {main}\n}}\n")
        self.text = '#[version = "0.0.5"]\n' + "".join(definitions) + METADATA

    def definition(self, name: str) -> str:
        """A global function, which later ones may call."""
        kinds = self.rng.choices(("tensor", "pair", "list", "function"), k=self.rng.randrange(1, 4))
        scope = [(f"%{name[1:]}_{i}", kind) for i, kind in enumerate(["tensor", "flag", *kinds])]
        params = [f"{p}{self.annotation(' {{{}}}')}: {TYPES[kind]}" for p, kind in scope]
        head = f"def {name}({', '.join(params)}{self.annotation(', {}')}) -> {T}"
        text = f"{head} {{\n  {self.block(scope, 'tensor', 3)}\n}}\n"
        self.functions.append((name, [kind for _, kind in scope]))
        return text

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
            bound = self.rng.choice(("tensor", "tensor", *TYPES))
            lines.append(f"let {name}: {TYPES[bound]} = {self.value(scope, bound, depth)};")
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
            case "flag":
                return f"less(sum({of('tensor')}), 1f)" if depth > 0 else "less(1f, 2f)"
            case "function":
                return self.function(scope, "tensor", depth)
            case _:
                return self.function(scope, "function", depth)

    def function(self, scope: Scope, gives: str, depth: int) -> str:
        name = self.fresh()
        inner = [*scope, (name, "tensor")]
        body = (
            self.block(inner, "tensor", depth - 1)
            if gives == "tensor"
            else self.function(inner, "tensor", depth)
        )
        return f"fn ({name}: {T}) -> {TYPES[gives]} {{ {body} }}"

    def tensor(self, scope: Scope, depth: int, of: Callable[[str], str]) -> str:
        def inside(*more: tuple[str, str]) -> str:
            return self.block([*scope, *more], "tensor", depth - 1)

        a, b = self.fresh(), self.fresh()
        match self.rng.randrange(12):
            case 0 | 1:
                return f"{self.rng.choice(('negative', 'tanh', 'abs'))}({of('tensor')})"
            case 2 | 3:
                operator = self.rng.choice(("add", "multiply", "maximum"))
                return f"{operator}({of('tensor')}, {of('tensor')})"
            case 4:
                return f"add({of('tensor')}, {self.rng.randrange(5)}f)"
            case 5:
                return f"({of('pair')}).{self.rng.randrange(2)}"
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
