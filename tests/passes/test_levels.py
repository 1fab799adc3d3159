"""Every registered pass on a program of every level: it runs, changes nothing, or fails."""

from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import StringIO

import pytest
from helpers.machine.in_machine import UNIVERSE
from helpers.programs.agreement import quiet
from helpers.programs.every_case import every
from helpers.programs.programs import parse
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import DiagnosticException

from xrelay.passes.support import stage_rules
from xrelay.passes.support.levels import ENDS, PRODUCERS, STAGES, Stage, level_of, path_to
from xrelay.passes.verify_stage import VerifyStagePass
from xrelay.tools.pass_run.pipeline import build
from xrelay.tools.pass_run.pipeline_steps import Step
from xrelay.tools.pass_run.runner import Runner
from xrelay.tools.registry import PASSES, named_pipelines

PROGRAM = """
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}, %w: tensor<8x8xf32>) -> tensor<?x8xf32> {
  %c = relay.constant dense<2.0> : tensor<f32>
  %k = relay.exp %c : (tensor<f32>) -> tensor<f32>
  %a = relay.nn.dense %x, %w : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %b = relay.add %a, %k : (tensor<?x8xf32>, tensor<f32>) -> tensor<?x8xf32>
  %d = relay.on_device %b, #relay.device<cpu:0> : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %e = func.call @twice(%d) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %y = func.call @marked(%e) : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}
func.func private @twice(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %a = relay.nn.softmax %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = relay.nn.softmax %a : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %b : tensor<?x8xf32>
}
func.func private @marked(%x: tensor<?x8xf32>) -> tensor<?x8xf32> attributes {relay.inline} {
  %a = relay.nn.relu %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %a : tensor<?x8xf32>
}
"""  # noqa: E501

TABLE = """
bind-dims                  . . . . . . . . . .
bind-inputs                . . . . . . . . . .
bind-params                . . . . . . . . . .
infer-types                . . . . . . . . . .
widen-narrow-types         . . . . . . . . . .
simplify-inference         . . . . . . . . . .
fold-constants             + . . . . . . . . .
lower-qnn                  . . . . . . . . . .
expand-lines               . . . . . . . . . .
expand-transposed-convolutions . . . . . . . . . .
transpose-weights          . . . . . . . . . .
transform-filters          . . . . . . . . . .
pack-weights               . . . . . . . . . .
propagate-layout           . . . . . . . . . .
expand-lrn                 . . . . . . . . . .
separate-padding           . . . . . . . . . .
read-transposed            . . . . . . . . . .
lend-caches                . . . . . . . . . .
fold-weights               . . . . . . . . . .
dynamic-to-static          . . . . . + + . . .
plan-devices               + . . . . . . . . .
sink-device-hints          . . . . . . . . . .
solve-devices              + + + + + + + . . .
assign-devices             . . . . . . . . . .
materialize-device-copies  . . . . . . . . . .
elide-device-copies        < . . . . . . . . .
explain-devices            . . . . . . . . . .
share-device-copies        < . . . . . . . . .
lambda-lift                . . . . . . . . . .
specialize-functions       . . . . . . . . . .
inline                     + + . . . . . . . .
pass-params                . . . . . . . . . .
check-shapes               . . . . . . . . . .
flatten-tuples             . . . . . . . . . .
remove-unused-functions    . . . . . . . . . .
eliminate-dead-code        . . . . . + + . . .
lift-constants             . . . . . . . . . .
hoist-reshapes             . . . . . . . . . .
choose-tiling              . . . . . . . . . .
explain-tiling             . . . . . . . . . .
tile-for-memory            . . . . . . . . . .
fuse-ops                   + + . . . . . . . .
outline-primitives         < < + . . . . . . .
declare-scratch            < < < . . . . . . .
create-shape-functions     < < < . + + + . . .
manifest-alloc             < < < + . . . . . .
append-in-place            < < < < . . . . . .
remove-dead-writes         < < < < . + + . . .
view-slices                < < < < . . . . . .
forward-copies             < < < < . . . . . .
join-tensors               < < < < . . . . . .
manifest-lifetimes         < < < < + . . . . .
remove-unused-kernels      < < < . . . . . . .
simplify-shapes            < < < < + + + . . .
pass-workspaces            < < < < + . . . . .
plan-memory                < < < < + . . . . .
reuse-in-place             < < < < + . . . . .
coalesce-storage           < < < < . . . . . .
reorder-for-memory         < < < < . . . . . .
annotate-memory            < < < < + + + . . .
assign-pools               < < < < . . . . . .
place-constants            < < < < . . . . . .
check-peak                 < < < < . . . . . .
pack-storage               < < < < . . . . . .
layout-slices              < < < < . . . . . .
expand-packs               < < < < . + . . . .
overwrite-dead-bytes       < < < < + + + . . .
verify-memory-plan         < < < < . . . . . .
report-memory              < < < < . . . x x x
make-kernels               . . . . . . . . . .
rename-written-tensors     . . . . . . . . . .
verify-stage               . . . . . . . . . .
pack-buffers               . . . . . . . . . .
lower-buffers              . . . . . . . . . .
plan-memref                . . . . . . . . . .
convert-memory-to-memref   < < < < + < + | . |
merge-tail-cycles          < < < < < < < | . |
limit-recursion            < < < < < < < | . |
tail-calls-to-loops        < < < < < < < | . |
erase-memory-spaces        < < < < < < < | . |
convert-relay-to-linalg    < < < + + + + | . |
describe-entries           < < < < + + + . . .
aot-lower-main             < < < < < < < | x |
lower-to-bytecode          < < < < + < + . | |
convert-program-to-linalg  + + x x x x x | | .
expand-math                . . . . . . . . . +
allocate-registers         < < < < < < < . | |
move-reshapes              < < < < < < < | + |
fuse-elementwise           < < < < < < < | + |
compute-by-rows            < < < < < < < | . |
compute-in-destinations    < < < < < < < | + |
call-blas                  < < < < < < < | + |
transpose-operands         < < < < < < < | + |
copy-kernels               < < < < < < < | + |
materialize-products       < < < < < < < | . |
write-onto-results         < < < < < < < | + |
write-transposed           < < < < < < < | . |
compute-winograd           < < < < < < < | . |
choose-schedules           < < < < < < < | . |
divide-between-threads     < < < < < < < | + |
version-kernels            < < < < < < < | . |
merge-aliases              < < < < < < < | + |
merge-rows                 < < < < < < < | . |
sum-in-blocks              < < < < < < < | . |
store-parts                < < < < < < < | . |
"""
"""
One column for each of `STAGES`, each program as the pipelines `vm`, `aot`, and `linalg` make it:

    +   the pass changes it         <   it fails: the program is of an earlier level
    .   it leaves it as it is       |   it fails: the program is at the end of another path
                                    x   it fails for a reason of its own
"""

OWN_REASONS = {
    "report-memory": "expected allocations of memory, but the module has none",
    "aot-lower-main": "the module has no entries: run describe-entries before",
    "convert-program-to-linalg": "has no linalg; xrelay-run can run|cannot be written",
}


def run(module: ModuleOp, *passes: ModulePass) -> None:
    Runner([Step(step) for step in passes], verify_first=False).run(quiet(), module)


@cache
def program_at(stage: str) -> ModuleOp:
    module = parse(PROGRAM)
    pipeline = {"memref": "aot{prefix=p}", "linalg": "linalg"}.get(stage, "vm")
    if stage != "relay":
        for step in build(pipeline, UNIVERSE.all_passes, named_pipelines):
            run(module, step.run)
            if isinstance(step.run, VerifyStagePass) and step.run.stage == stage:
                break
    return module


def pass_at(name: str, stage: str) -> ModulePass:
    """Return the pass `name` with the options that it requires."""
    cls = UNIVERSE.all_passes[name]()
    options = {"verify-stage": {"stage": stage}, "aot-lower-main": {"prefix": "p"}}
    return cls(**options.get(name, {}))


def outcome(name: str, stage: str) -> tuple[str, str]:
    """Return the sign in the table, and the error."""
    before = program_at(stage)
    module = before.clone()
    try:
        with redirect_stderr(StringIO()), redirect_stdout(StringIO()):
            run(module, pass_at(name, stage))
    except DiagnosticException as error:
        assert module.is_structurally_equivalent(before)
        text = str(error)
        earlier, beside = ": run " in text and " first" in text, "does not lead to" in text
        return "<" if earlier and "expected" not in text else "|" if beside else "x", text
    return "." if module.is_structurally_equivalent(before) else "+", ""


def rows() -> dict[str, str]:
    return {name: " ".join(signs) for name, *signs in map(str.split, TABLE.strip().split("\n"))}


def test_every_pass_declares_its_level():
    levels = {name: level_of(pass_at(name, "relay")) for name in PASSES}
    assert [name for name, level in levels.items() if level not in (*STAGES, "every")] == []
    assert {name for name, level in levels.items() if level == "every"} == {
        "infer-types",
        "remove-unused-functions",
        "make-kernels",
        "rename-written-tensors",
        "expand-math",
        "verify-stage",
        "pack-buffers",
        "lower-buffers",
        "plan-memref",
    }
    assert [name for name in PASSES if name not in rows()] == []


@pytest.mark.parametrize("name", PASSES)
def test_outcomes(name: str):
    outcomes = [outcome(name, stage) for stage in STAGES]
    assert " ".join(sign for sign, _ in outcomes) == rows()[name]
    for sign, text in outcomes:
        if sign == "x":
            assert any(reason in text for reason in OWN_REASONS[name].split("|"))


@every("name", PASSES)
def test_the_table_follows_from_what_passes_declare(name: str):
    level = level_of(pass_at(name, "relay"))
    assert level is not None
    signs = dict(zip(STAGES, rows()[name].split(), strict=True))
    own = ["relay"] if level == "every" else path_to(level)
    # A program of level `manifest` without packs is one without a plan of level `memory-planned`.
    if level in ("memory-planned", "expanded"):
        own = [stage for stage in own if stage != "manifest"]
    earlier = [stage for stage in signs if stage in own[:-1]]
    assert [stage for stage, sign in signs.items() if sign == "<"] == earlier
    made = next((stage for stage in STAGES if name in PRODUCERS.get(stage, ())), None)
    if made is not None and made not in ENDS:
        assert {signs[stage] for stage in STAGES[STAGES.index(made) :]} == {"."}
    elif made is not None:
        assert signs[made] == "."
    elif level not in ENDS and level != "every" and name != "report-memory":
        assert {signs[stage] for stage in ENDS} == {"."}


MESSAGES = {
    "manifest-alloc": "relay.exp is not in a kernel: run fuse-ops, outline-primitives first",
    "fuse-ops,manifest-alloc": "relay.primitive is not a function: run outline-primitives first",
    "plan-memory": (
        "relay.exp is not in a kernel: run fuse-ops, outline-primitives, manifest-alloc first"
    ),
    "plan-devices,fuse-ops,outline-primitives,plan-memory": (
        "relay.call_lowered has no storage: run manifest-alloc first"
    ),
    "share-device-copies": "relay.on_device is a hint: run plan-devices first",
    "allocate-registers": "func.func is not bytecode: run lower-to-bytecode first",
}


@pytest.mark.parametrize("passes", MESSAGES)
def test_the_error_names_the_op_and_the_passes_to_run(passes: str):
    module = parse("""
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}
func.func @g(%x: tensor<4xf32>) -> tensor<4xf32> {
  %y = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> tensor<4xf32>
  func.return %y : tensor<4xf32>
}""")
    steps = [step.run for step in build(passes, UNIVERSE.all_passes, named_pipelines)]
    with pytest.raises(DiagnosticException) as caught:
        run(module, *steps)
    assert str(caught.value).endswith(MESSAGES[passes])


def test_what_is_known_is_not_tested_again(monkeypatch: pytest.MonkeyPatch):
    tested: list[str] = []
    require = stage_rules.require_no_earlier

    def recorded(module: ModuleOp, stage: Stage) -> None:
        tested.append(stage)
        require(module, stage)

    monkeypatch.setattr(stage_rules, "require_no_earlier", recorded)
    steps = build("vm", UNIVERSE.all_passes, named_pipelines)
    run(parse(PROGRAM), *(step.run for step in steps))
    verified = {step.run.stage for step in steps if isinstance(step.run, VerifyStagePass)}
    assert len(tested) == len(set(tested))
    # Before the stage that is verified, there are passes of it.
    assert set(tested) == {"planned", "lowered", "manifest"} <= verified
