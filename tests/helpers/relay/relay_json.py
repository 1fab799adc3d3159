"""A module as `tvm.ir.save_json` writes it, with every construct of the language, node by node."""

from typing import Any


class Nodes:
    """Nodes in order of creation, referred to by their numbers."""

    def __init__(self) -> None:
        self.list: list[dict[str, Any]] = [{"type_key": ""}]

    def add(self, key: str, **attrs: object) -> int:
        """Add a node whose fields are numbers, texts, or numbers of nodes."""
        self.list.append({"type_key": key, "attrs": {k: str(v) for k, v in attrs.items()}})
        return len(self.list) - 1

    def word(self, text: str, key: str = "runtime.String") -> int:
        self.list.append({"type_key": key, "repr_str": text})
        return len(self.list) - 1

    def array(self, *data: int, **more: Any) -> int:
        self.list.append({"type_key": "Map" if "keys" in more else "Array", "data": data, **more})
        return len(self.list) - 1

    def map(self, *pairs: int) -> int:
        self.list.append({"type_key": "Map", "data": pairs})
        return len(self.list) - 1

    def var(self, name: str, type: int = 0) -> int:
        name_id = self.add("relay.Id", name_hint=self.word(name))
        return self.add("relay.Var", type_annotation=type, vid=name_id, virtual_device_=0)

    def call(self, callee: int, *args: int, attrs: int = 0) -> int:
        return self.add("relay.Call", op=callee, args=self.array(*args), attrs=attrs)

    def let(self, var: int, value: int, body: int = 0) -> int:
        return self.add("relay.Let", var=var, value=value, body=body)

    def function(self, body: int, *params: int, attrs: int = 0, device: int = 0) -> int:
        none = self.array()
        return self.add(
            "relay.Function",
            params=self.array(*params),
            ret_type=0,
            body=body,
            type_params=none,
            attrs=attrs,
            virtual_device_=device,
        )

    def module(self, types: int, functions: int) -> dict[str, Any]:
        root = self.add("IRModule", functions=functions, type_definitions=types)
        return {"root": root, "nodes": self.list, "b64ndarrays": []}


def saved_module() -> dict[str, Any]:
    """`@main` with a data type, a match, a branch, a closure, a cell, tuples, hints, attributes."""
    n = Nodes()
    four = n.add("IntImm", dtype="int32", span=0, value=4)
    tensor = n.add("relay.TensorType", dtype="float32", shape=n.array(four))
    truth = n.add("relay.TensorType", dtype="bool", shape=n.array())
    a = n.add("TypeVar", kind=0, name_hint=n.word("A"))
    header = n.add("GlobalTypeVar", kind=5, name_hint=n.word("L"))
    inner = n.add("TypeCall", func=header, args=n.array(a))
    nil = n.add("relay.Constructor", name_hint=n.word("N"), inputs=n.array(), tag=0)
    cons = n.add("relay.Constructor", name_hint=n.word("C"), inputs=n.array(a, inner), tag=1)
    data = n.add(
        "relay.TypeData", header=header, type_vars=n.array(a), constructors=n.array(nil, cons)
    )
    tensors = n.add("TypeCall", func=header, args=n.array(tensor))
    x, c, values = n.var("x", tensor), n.var("c", truth), n.var("l", tensors)
    exp = n.call(n.word("exp", "Op"), x)
    other = n.call(n.word("add", "Op"), exp, x)
    branch = n.add("relay.If", cond=c, true_branch=exp, false_branch=other)
    pair = n.add("relay.Tuple", fields=n.array(branch, exp))
    field = n.add("relay.TupleGetItem", tuple_value=pair, index=0)
    head = n.var("h")
    parts = n.array(n.add("relay.PatternVar", var=head), n.add("relay.PatternWildcard"))
    first = n.add(
        "relay.Clause",
        lhs=n.add("relay.PatternConstructor", constructor=cons, patterns=parts),
        rhs=head,
    )
    rest = n.add("relay.Clause", lhs=n.add("relay.PatternWildcard"), rhs=field)
    match = n.add("relay.Match", data=values, clauses=n.array(first, rest), complete=1)
    p = n.var("p", tensor)
    attrs = n.add("DictAttrs", __dict__=n.array(four, keys=["Primitive"]))
    closure = n.function(n.call(n.word("negative", "Op"), p), p, attrs=attrs)
    f, r = n.var("f"), n.var("r")
    read = n.add("relay.RefRead", ref=n.add("relay.RefCreate", value=match))
    result = n.call(f, r)
    axes = n.add("relay.attrs.ReduceAttrs", axis=n.array(four), keepdims=1, exclude=0)
    total = n.call(n.word("nn.fancy", "Op"), result, attrs=axes)
    n.list[total]["attrs"]["_checked_type_"] = str(tensor)
    lets = n.let(f, closure, n.let(r, read, total))
    place = n.add(
        "VirtualDevice",
        device_type_int=2,
        virtual_device_id=0,
        target=0,
        memory_scope=n.word(""),
    )
    main = n.add("GlobalVar", name_hint=n.word("main"))
    functions = n.map(main, n.function(lets, x, c, values, device=place))
    return n.module(n.map(header, data), functions)
