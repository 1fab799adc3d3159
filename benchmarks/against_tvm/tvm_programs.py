"""
Generate random Relay programs with hints that TVM accepts.

Hints are normal or fixed, and on computed values: for these, both planners should agree. (Free
hints, and hints on variables or on hints, are among the documented differences.)
"""

from random import Random

T = "Tensor[(3, 4), float32]"
DEVICES = tuple(f"meta[VirtualDevice][{i}]" for i in range(3))
METADATA = """
#[metadata]
{"root": 1, "nodes": [
  {"type_key": ""},
  {"type_key": "Map", "keys": ["VirtualDevice"], "data": [2]},
  {"type_key": "Array", "data": [3, 4, 5]},
  {"type_key": "VirtualDevice", "attrs":
    {"device_type_int": "1", "memory_scope": "6", "target": "0", "virtual_device_id": "0"}},
  {"type_key": "VirtualDevice", "attrs":
    {"device_type_int": "2", "memory_scope": "6", "target": "0", "virtual_device_id": "0"}},
  {"type_key": "VirtualDevice", "attrs":
    {"device_type_int": "2", "memory_scope": "6", "target": "0", "virtual_device_id": "1"}},
  {"type_key": "runtime.String"}
], "b64ndarrays": [], "attrs": {"tvm_version": "0.10.0"}}
"""
FIXED = ", constrain_result=True"


class Program:
    """Return up to two functions and `@main`; an expression has a hint with probability `hints`."""

    def __init__(self, rng: Random, size: int, hints: float) -> None:
        self.rng = rng
        self.hints = hints
        self.numbers = 0
        self.names = 0
        self.functions: list[str] = []
        definitions: list[str] = []
        for i in range(rng.randint(0, 2)):
            body = self.block(["%a", "%b"], rng.randint(1, size // 2 + 1), depth=0)
            parameter = self.annotation(0.15, " {{virtual_device={}}}")
            result = self.annotation(0.1, ", virtual_device={}")
            head = f"def @g{i}(%a{parameter}: {T}, %b: {T}{result}) -> {T}"
            definitions.append(f"{head} {{\n{body}\n}}\n")
            self.functions.append(f"@g{i}")
        body = self.block(["%x", "%y"], size, depth=0)
        parameter = self.annotation(0.15, " {{virtual_device={}}}")
        head = f"def @main(%x{parameter}: {T}, %y: {T}, %c: bool) -> {T}"
        self.text = (
            f'#[version = "0.0.5"]\ntype L {{ C({T}, L), N }}\n'
            f"{''.join(definitions)}{head} {{\n{body}\n}}\n{METADATA}"
        )

    def annotation(self, likely: float, form: str) -> str:
        return form.format(self.rng.choice(DEVICES)) if self.rng.random() < likely else ""

    def hinted(self, expression: str) -> str:
        if self.rng.random() >= self.hints:
            return expression
        fixed = FIXED if self.rng.random() < 0.3 else ""
        return f"on_device({expression}, virtual_device={self.rng.choice(DEVICES)}{fixed})"

    def node(self) -> str:
        self.numbers += 1
        return f"%{self.numbers - 1}"

    def local(self) -> str:
        self.names += 1
        return f"%v{self.names}"

    def block(self, values: list[str], size: int, depth: int) -> str:
        """Return statements and a result that use `values`."""
        values = list(values)
        indent = "  " * (depth + 1)
        lines: list[str] = []
        for _ in range(self.rng.randint(1, size)):
            expression = self.hinted(self.expression(values, lines, indent, depth))
            if self.rng.random() < 0.3:
                values.append(self.local())
                lines.append(f"{indent}let {values[-1]} = {expression};")
            else:
                values.append(self.node())
                lines.append(f"{indent}{values[-1]} = {expression};")
        result = values[-1] if self.rng.random() < 0.8 else self.rng.choice(values)
        return "\n".join([*lines, f"{indent}{result}"])

    def expression(self, values: list[str], lines: list[str], indent: str, depth: int) -> str:
        """Return an expression of type `T`; append the statements it needs to `lines`."""
        a, b = self.rng.choice(values), self.rng.choice(values)
        kinds = ["binary"] * 4 + ["unary", "scalar", "tuple", "match", "reference"]
        kinds += ["if", "closure"] if depth < 2 else []
        kinds += ["call"] if self.functions else []
        match self.rng.choice(kinds):
            case "binary":
                return f"{self.rng.choice(('add', 'multiply', 'maximum'))}({a}, {b})"
            case "unary":
                return f"negative({a})"
            case "scalar":
                return f"add({a}, 2f)"
            case "tuple":
                pair = self.node()
                lines.append(f"{indent}{pair} = {self.hinted(f'({a}, {b})')};")
                return f"{pair}.{self.rng.randint(0, 1)}"
            case "if":
                condition = "%c" if "%x" in values else "True"
                branches = [self.block(values, 3, depth + 1) for _ in range(2)]
                inside = f"\n{indent}}} else {{\n".join(branches)
                return f"if ({condition}) {{\n{inside}\n{indent}}}"
            case "closure":
                name, parameter = self.local(), self.local()
                body = self.block([*values, parameter], 3, depth + 1)
                lines.append(
                    f"{indent}let {name} = fn ({parameter}: {T}) -> {T} {{\n{body}\n{indent}}};"
                )
                return f"{name}({a})"
            case "call":
                return f"{self.rng.choice(self.functions)}({a}, {b})"
            case "match":
                data, head, rest = self.node(), self.local(), self.local()
                lines.append(f"{indent}{data} = {self.hinted(f'C({a}, N)')};")
                return f"(match ({data}) {{ C({head}, {rest}) => {{ {head} }}, N => {{ {b} }}, }})"
            case _:
                cell = self.local()
                lines.append(f"{indent}let {cell} = ref({a});")
                if self.rng.random() < 0.5:
                    lines.append(f"{indent}let {self.local()} = ref_write({cell}, {b});")
                return f"ref_read({cell})"
