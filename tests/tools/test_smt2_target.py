"""`-t smt2`: solvers accept plans, by their orders and by their arithmetic, and refute faults."""

from collections import Counter
from functools import cache
from io import StringIO
from pathlib import Path
from random import Random

import pytest
from helpers.machine.in_machine import run_passes
from helpers.memory.memref_programs import parse
from helpers.memory.plan_faults import PACK_FAULTS
from helpers.memory.solvers import SOLVERS
from helpers.onnx.onnx_models import LIGHT_MODELS, light_network, open_dims
from helpers.programs.agreement import quiet
from helpers.programs.random_settings import rounds, share
from helpers.programs.transformer import encoder
from passes.test_memory_plan_mutations import is_accepted
from xdsl.dialects.builtin import ModuleOp

from xrelay.dialects import memory
from xrelay.dialects.xdsl_extras.walking import walk
from xrelay.frontends.onnx.convert.importer import convert_model
from xrelay.lowering.pipelines import VmPipeline
from xrelay.passes.support.diagnostics import PassError
from xrelay.tools.targets.smt2_target import Smt2Target

TEXT = VmPipeline().text
TO_PLAN = TEXT[: TEXT.index(",expand-packs")]


def claims_of(module: ModuleOp) -> str:
    out = StringIO()
    Smt2Target().emit(quiet(), module, out)
    return out.getvalue()


@cache
def _planned(layers: int) -> ModuleOp:
    module = convert_model(encoder(layers), "encoder.onnx").module
    run_passes(module, TO_PLAN)
    return module


def planned_encoder(layers: int = 1) -> ModuleOp:
    return _planned(layers).clone()


def two_orders(module: ModuleOp) -> None:
    """Give each pack a second order, which is the first one upside down."""
    for op in [op for op in walk(module) if isinstance(op, memory.PackOp)]:
        packing = memory.Packing(op)
        orders = packing.orders
        if orders is None:
            continue
        above: list[list[int]] = [[] for _ in packing.slices]
        for i, under in enumerate(orders.on[0]):
            for j in under:
                above[j].append(i)
        for slice in packing.slices:
            slice.lie_on([])
        packing.order([orders.on[0], tuple(map(tuple, above))])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("orders", [1, 2])
def test_solvers_accept_a_plan(solver: str, orders: int):
    module = planned_encoder()
    if orders == 2:
        two_orders(module)
    text = claims_of(module)
    answers = SOLVERS[solver](text)
    assert len(answers) == text.count("(check-sat)") > 25
    assert set(answers) == {"unsat"}


def test_the_same_claims_hold_of_the_arithmetic():
    """`expand-packs` is checked, too: nothing else does once the order is gone."""
    module = planned_encoder()
    count = claims_of(module).count("(check-sat)")
    run_passes(module, "expand-packs")
    text = claims_of(module)
    assert "arithmetic that the program computes" in text
    assert text.count("(check-sat)") > count // 2, "slots at equal offsets are one"
    assert set(SOLVERS["z3"](text)) == {"unsat"}


FOREIGN = Path(__file__).parents[2] / "examples" / "foreign"


@pytest.mark.parametrize("path", sorted(FOREIGN.glob("*.mlir")), ids=lambda path: path.stem)
def test_solvers_accept_plans_of_memrefs(path: Path):
    module = parse(path.read_text())
    run_passes(module, "pack-buffers,layout-slices")
    for solver in SOLVERS.values():
        answers = solver(claims_of(module))
        assert set(answers) == {"unsat"}, path.name
    packs = [memory.Packing(op) for op in walk(module) if isinstance(op, memory.PackOp)]
    run_passes(expanded := module.clone(), "expand-packs")
    assert set(SOLVERS["z3"](claims_of(expanded))) == {"unsat"}
    for packing in packs:
        for op in packing.slices:
            op.lie_on([])
    if packs:
        assert "sat" in SOLVERS["z3"](claims_of(module)), "slices lie on nothing"


@pytest.mark.ci
@pytest.mark.parametrize("name", share(LIGHT_MODELS))
def test_solvers_accept_open_networks(name: str):
    network = light_network(name)
    open_dims(network)
    module = convert_model(network.model, f"{name}.onnx").module
    run_passes(module, TO_PLAN)
    text = claims_of(module)
    for answers in (solve(text) for solve in SOLVERS.values()):
        assert len(answers) == text.count("(check-sat)") > 10
        assert set(answers) == {"unsat"}


@pytest.mark.ci
def test_z3_and_the_checker_agree_on_faults():
    planned = planned_encoder()
    count = Counter[str]()
    for seed in range(rounds(80)):
        rng, faulty = Random(seed), planned.clone()
        name = rng.choice([*PACK_FAULTS])
        if not PACK_FAULTS[name](rng, list(walk(faulty))):
            continue
        accepted = is_accepted(faulty)
        if accepted is None:
            count["not valid"] += 1
            continue
        try:
            answers = SOLVERS["z3"](claims_of(faulty))
        except PassError:  # a fault that is none of bytes
            assert not accepted
            continue
        is_shown = set(answers) <= {"unsat"}
        if accepted and not is_shown:  # what nothing uses any more is needed until it is killed
            assert name == "no kill"
            continue
        assert accepted == is_shown, f"{name}, seed {seed}"
        count["accepted" if accepted else "sat"] += 1
    assert min(count["sat"], count["accepted"]) > 1
