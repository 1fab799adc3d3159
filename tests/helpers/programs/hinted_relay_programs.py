"""
Random Relay text with random device hints: data, references, closures, global functions, recursion.

Tensors have four elements, or, in open programs, a size that is known only when they run. They are
of float32; other element types occur inside. Programs of the first order are those that machine
code accepts whole.
"""

import re
from collections.abc import Callable, Sequence
from random import Random

import numpy as np

ELEMENTS = {
    "whole": "int32",
    "byte": "uint8",
    "half": "float16",
    "double": "float64",
    "mask": "bool",
}
"""Kinds of vectors that are not of float32, and their element types."""


def types(size: str, is_first_order: bool = False) -> dict[str, str]:
    """Return the kinds of values, and their types."""
    vector = f"Tensor[({size}), float32]"
    kinds = {
        "tensor": vector,
        "pair": f"({vector}, {vector})",
        "flag": "bool",
        **{kind: f"Tensor[({size}), {element}]" for kind, element in ELEMENTS.items()},
        "record": f"(({vector}, Tensor[({size}), int32]), (Tensor[({size}), bool],))",
    }
    if not is_first_order:
        kinds |= language_types(vector)
    return kinds if size == "4" else kinds | {"size": "int64", "matrix": "Tensor[(?, ?), float32]"}


def language_types(vector: str) -> dict[str, str]:
    """Return the kinds of values that only the machine has, and their types."""
    return {
        "nest": f"(({vector}, {vector}), List[{vector}])",
        "list": f"List[{vector}]",
        "option": f"Option[{vector}]",
        "tree": f"Bin[{vector}]",
        "cell": f"ref({vector})",
        "hook": f"ref(fn ({vector}) -> {vector})",
        "function": f"fn ({vector}) -> {vector}",
        "functions": f"List[fn ({vector}) -> {vector}]",
        "curried": f"fn ({vector}) -> fn ({vector}) -> {vector}",
    }


TREES = """
type Bin[A] { Leaf, Node(Bin[A], A, Bin[A]) }
def @grow[A](%n: int32, %x: A) -> Bin[A] {
  if (less(%n, 1)) { Leaf }
  else { Node(@grow(subtract(%n, 1), %x), %x, @grow(subtract(%n, 2), %x)) }
}
def @mirror[A](%t: Bin[A]) -> Bin[A] {
  match (%t) { Node(%l, %x, %r) => Node(@mirror(%r), %x, @mirror(%l)), Leaf => Leaf }
}
def @fold_bin[A, B](%f: fn (B, A, B) -> B, %b: B, %t: Bin[A]) -> B {
  match (%t) {
    Leaf => %b,
    Node(%l, %x, %r) => %f(@fold_bin(%f, %b, %l), %x, @fold_bin(%f, %b, %r))
  }
}
"""


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
    "(unique({tensor})).0",
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
FORMS_OF = {
    "whole": (
        "cast(multiply(tanh({tensor}), 9f), dtype='int32')",
        "add({whole}, sum({whole}, keepdims=True))",
        "multiply({whole}, sum({whole}, keepdims=True))",
        "where(any({mask}, keepdims=True), {whole}, negative({one_whole}))",
        "cast({byte}, dtype='int32')",
        "floor_mod({whole}, 7)",
        "floor_divide({whole}, -3)",
        "cast(clip({half}, a_min=-9f, a_max=9f), dtype='int32')",
        "(({record}).0).1",
    ),
    "byte": (
        "cast(less({tensor}, 0f), dtype='uint8')",
        "cast({whole}, dtype='uint8')",
        "subtract({byte}, sum({byte}, keepdims=True))",
        "multiply({byte}, cast(sum({byte}, keepdims=True), dtype='uint8'))",
        "cast({mask}, dtype='uint8')",
    ),
    "half": (
        "cast(less({tensor}, 0f), dtype='float16')",  # no sums: machine code rounds others
        "add({half}, cast(any({mask}, keepdims=True), dtype='float16'))",
        "multiply({half}, cast(sum({byte}, keepdims=True), dtype='float16'))",
        "sqrt(abs({half}))",
        "cast({byte}, dtype='float16')",
    ),
    "double": (
        "cast({tensor}, dtype='float64')",
        "add({double}, sum({double}, keepdims=True))",
        "cast({whole}, dtype='float64')",
        "exp(negative(abs({double})))",
        "cast({half}, dtype='float64')",
    ),
    "mask": (
        "less({tensor}, 1f)",
        "logical_not({mask})",
        "logical_or({mask}, all({mask}, keepdims=True))",
        "equal({whole}, sum({whole}, keepdims=True))",
        "greater_equal({half}, cast(any({mask}, keepdims=True), dtype='float16'))",
        "cast({byte}, dtype='bool')",
        "(({record}).1).0",
    ),
    "one_whole": ("sum({whole}, keepdims=True)",),
    "record": ("(({tensor}, {whole}), ({mask},))",),
    "tree": (
        "Leaf",
        "Node({tree}, {tensor}, {tree})",
        "@grow({steps}, {tensor})",
        "@mirror({tree})",
    ),
    "hook": ("ref({function})",),
    "functions": ("Nil", "Cons({function}, {functions})", "Cons({function}, Nil)"),
}
"""Forms of values; the first one has no parts of the same kind."""
MIXED = (
    "cast({whole}, dtype='float32')",
    "cast({byte}, dtype='float32')",
    "cast({half}, dtype='float32')",
    "cast({double}, dtype='float32')",
    "cast({mask}, dtype='float32')",
    "where(any({mask}, keepdims=True), {tensor}, sum({tensor}, keepdims=True))",
    "(({record}).0).0",
)
"""Vectors of float32 that other kinds make."""
VALUES = (
    FORMS_OF
    | {"size": SIZES, "matrix": MATRICES, "shape": ("reshape({size}, newshape=[1])",)}
    | {
        name: (f"reshape({value}i64, newshape=[1])",)
        for name, value in {"zero": 0, "one": 1, "two": 2, "rest": -1}.items()
    }
)
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

    def __init__(self, rng: Random, is_open: bool = False, is_first_order: bool = False):
        self.rng = rng
        self.is_open = is_open
        self.is_first_order = is_first_order
        self.types = types("?" if is_open else "4", is_first_order)
        self.hinted = rng.choice((0.05, 0.15, 0.3))
        self.count = 0
        self.functions: list[tuple[str, list[str]]] = []
        definitions = [self.definition(f"@f{i}") for i in range(rng.randrange(3))]
        main = self.block([("%c", "flag"), ("%x", "tensor"), ("%y", "tensor")], "tensor", 4)
        result, type = self.annotation(", {}"), self.types["tensor"]
        head = f"def @main(%c: bool, %x: {type}, %y: {type}{result}) -> {type}"
        definitions.append(f"{head} {{\n  {main}\n}}\n")
        trees = "" if is_first_order else TREES
        self.text = '#[version = "0.0.5"]\n' + trees + "".join(definitions) + METADATA

    def definition(self, name: str) -> str:
        """A global function, which later ones may call; some call themselves, up to three times."""
        passed = ("tensor", "pair", "record", "whole", "list", "function", "tree", "hook")
        passed = [kind for kind in passed if kind in self.types]
        kinds = self.rng.choices(passed, k=self.rng.randrange(1, 4))
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
        count = self.rng.randrange(3 if depth > 0 else 1)
        if depth > 0 and self.rng.random() < 0.05:
            count += 12
        for _ in range(count):
            name = self.fresh()
            held, kind_held = self.rng.choice((("cell", "tensor"), ("hook", "function")))
            cell = self.some(scope, held)
            if cell is not None and self.rng.random() < 0.2:
                lines.append(
                    f"let {name} = ref_write({cell}, {self.value(scope, kind_held, depth)});"
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

        if depth > 0 and kind in self.types and self.rng.random() < 0.06:
            branches = (self.block(scope, kind, depth - 1) for _ in range(2))
            return "if ({}) {{ {} }} else {{ {} }}".format(of("flag"), *branches)
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
                return self.form(VALUES[kind][: None if depth > 0 else 1], of)
            case "flag" if depth > 0:
                return self.form(("less(sum({tensor}), 1f)", "any({mask})", "all({mask})"), of)
            case "flag":
                return "less(1f, 2f)"
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
        if self.is_open and depth > 0 and self.rng.random() < 0.4:
            if self.rng.random() < 0.2:
                return f"strided_slice({self.form(GROWING, of)}, begin=[0], end=[6])"
            return self.form(OPEN_TENSORS, of)
        choice = self.rng.randrange(8 if self.is_first_order else 16)
        if choice >= 8:
            return self.of_language(choice, scope, depth, of)
        match choice:
            case 0 | 1:
                return f"{self.rng.choice(('negative', 'tanh', 'abs'))}({of('tensor')})"
            case 2:
                operator = self.rng.choice(("add", "multiply", "maximum"))
                if self.is_open and self.rng.random() < 0.8:  # sizes may differ: an error
                    return f"{operator}({of('tensor')}, sum({of('tensor')}, keepdims=True))"
                return f"{operator}({of('tensor')}, {of('tensor')})"
            case 3:
                return f"add({of('tensor')}, {self.rng.randrange(5)}f)"
            case 4:
                return f"({of('pair')}).{self.rng.randrange(2)}"
            case 5:
                branches = (self.block(scope, "tensor", depth - 1) for _ in range(2))
                return "if ({}) {{ {} }} else {{ {} }}".format(of("flag"), *branches)
            case 6:
                return self.form(MIXED, of)
            case _ if self.functions:
                name, kinds = self.rng.choice(self.functions)
                return f"{name}({', '.join(map(of, kinds))})"
            case _:
                return f"negative({of('tensor')})"

    def of_language(self, choice: int, scope: Scope, depth: int, of: Callable[[str], str]) -> str:
        """A vector by data, functions or references."""
        a, b, c = self.fresh(), self.fresh(), self.fresh()

        def inside(*more: tuple[str, str]) -> str:
            return self.block([*scope, *more], "tensor", depth - 1)

        match choice:
            case 8:
                some, nil = inside((a, "tensor"), (b, "list")), inside()
                data = f"Cons({of('tensor')}, {of('list')})"
                return f"(match ({data}) {{ Cons({a}, {b}) => {{ {some} }}, Nil => {{ {nil} }} }})"
            case 9:
                some, none = inside((a, "tensor")), inside()
                data = of("option")
                return f"(match ({data}) {{ Some({a}) => {{ {some} }}, None => {{ {none} }} }})"
            case 10:
                deep, node = inside((a, "tree"), (b, "tensor")), inside((a, "tensor"), (b, "tree"))
                cases = f"Node(Node({a}, _, _), {b}, _) => {{ {deep} }}, "
                cases += f"Node(Leaf, {a}, {b}) => {{ {node} }}, Leaf => {{ {inside()} }}"
                return f"(let {c}: {self.types['tree']} = {of('tree')}; match ({c}) {{ {cases} }})"
            case 11:
                called = (
                    self.some(scope, "function") or f"({self.function(scope, 'tensor', depth)})"
                )
                return f"{called}({of('tensor')})"
            case 12:
                held = (("cell", "ref_read({})"), ("hook", "ref_read({})({})"))
                for kind, form in (*held, ("curried", "{}({})({})")):
                    name = self.some(scope, kind)
                    if name is not None:
                        return form.format(name, of("tensor"), of("tensor"))
                return f"(({of('nest')}).0).{self.rng.randrange(2)}"
            case 13:
                type = self.types["tensor"]
                again = self.block([*scope, (c, "tensor")], "tensor", depth - 1)
                body = f"if (less(0, {b})) {{ {a}(subtract({b}, 1), {again}) }} else {{ {c} }}"
                loop = f"fn ({b}: int32, {c}: {type}) -> {type} {{ {body} }}"
                return f"(let {a} = {loop}; {a}({of('steps')}, {of('tensor')}))"
            case 14:
                type, three = self.types["tensor"], ((a, "tensor"), (b, "tensor"), (c, "tensor"))
                head = ", ".join(f"{name}: {type}" for name, _ in three)
                folded = f"fn ({head}) -> {type} {{ {inside(*three)} }}"
                return f"@fold_bin({folded}, {of('tensor')}, {of('tree')})"
            case _ if self.rng.random() < 0.5:
                folded = f"fn ({a}: {self.types['tensor']}, {b}: {self.types['function']})"
                folded += f" -> {self.types['tensor']} {{ {b}({a}) }}"
                return f"@foldl({folded}, {of('tensor')}, {of('functions')})"
            case _:
                return f"@hd(@map({of('function')}, Cons({of('tensor')}, {of('list')})))"


def inputs() -> list[np.ndarray]:
    """Arguments for `@main`."""
    x = np.linspace(-1, 1, 4, dtype=np.float32)
    return [np.array(True), x, 2 - 3 * x]
