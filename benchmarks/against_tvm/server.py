"""
Answer requests about Relay programs with TVM; runs in an interpreter that has TVM.

A request is a line of JSON, {"do": "infer", "text": "…"}; so is the answer, which is
{"error": "…"} for failures. Everything that TVM prints goes to stderr.
"""

# pyright: basic

import base64
import json
import os
import sys
import time
import traceback
from importlib import import_module
from typing import Any

ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

np: Any = import_module("numpy")
tvm: Any = import_module("tvm")
relay: Any = import_module("tvm.relay")


def parsed(text: str) -> Any:
    """Parse Relay text."""
    return (relay if hasattr(relay, "parse") else tvm.parser).parse(text)


def text_of(module: Any) -> str:
    """Return the module as Relay text with its metadata."""
    return module.astext(show_meta_data=True)


def planned(module: Any) -> Any:
    """Run PlanDevices with default device type 2 and a CPU as the host."""
    host = tvm.target.Target("llvm")
    targets = [tvm.target.Target("llvm", host), tvm.target.Target("cuda", host)]
    context = tvm.transform.PassContext(config={"relay.fallback_device_type": 2})
    config = tvm.target.make_compilation_config(context, targets)
    with context:
        plan = import_module("tvm.relay.transform._ffi_api").PlanDevices(config)
        return plan(relay.transform.InferType()(module))


def infer(request: dict[str, Any]) -> dict[str, Any]:
    """Return the text with all types."""
    return {"text": text_of(relay.transform.InferType()(parsed(request["text"])))}


def plan(request: dict[str, Any]) -> dict[str, Any]:
    """Return the planned text."""
    module = relay.transform.InferType()(planned(parsed(request["text"])))
    return {"text": text_of(module)}


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run `@main` on arrays."""

    def decoded(array: dict[str, Any]) -> Any:
        data = np.frombuffer(base64.b64decode(array["data"]), array["dtype"])
        return tvm.nd.array(data.reshape(array["shape"]))

    def encoded(value: Any) -> Any:
        if not hasattr(value, "numpy"):
            return [encoded(field) for field in value]
        array = np.ascontiguousarray(value.numpy())
        data = base64.b64encode(array.tobytes()).decode()
        return {"data": data, "dtype": str(array.dtype), "shape": list(value.shape)}

    target = request.get("target", "llvm -mtriple=x86_64-unknown-linux-gnu")
    executor = relay.create_executor(
        "vm", mod=parsed(request["text"]), device=tvm.cpu(), target=target
    )
    return {"value": encoded(executor.evaluate()(*map(decoded, request["args"])))}


def measure(request: dict[str, Any]) -> dict[str, Any]:
    """Return the CPU seconds to parse, print and plan: the minimum of several runs."""
    module = parsed(request["text"])
    steps = {
        "read": lambda: parsed(request["text"]),
        "print": lambda: text_of(module),
        "plan": lambda: planned(module),
    }
    seconds: dict[str, float] = {}
    for name in request["steps"]:
        best = float("inf")
        for _ in range(request["repeats"]):
            start = time.process_time()
            steps[name]()
            best = min(best, time.process_time() - start)
        seconds[name] = best
    return {"seconds": seconds}


QUESTIONS = {"infer": infer, "plan": plan, "run": run, "measure": measure}


def main() -> None:
    """Answer requests until the end of the input."""
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = QUESTIONS[request["do"]](request)
        except Exception:
            answer = {"error": traceback.format_exc()[-2000:]}
        ANSWERS.write(json.dumps(answer) + "\n")
        ANSWERS.flush()


if __name__ == "__main__":
    main()
