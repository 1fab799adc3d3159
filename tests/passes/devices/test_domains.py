"""Device domains: united domains share a device, and conflicts have the shortest explanation."""

from helpers.programs.random_settings import exactly
from hypothesis import given
from hypothesis import strategies as st

from xrelay.dialects.device import UNCONSTRAINED, VirtualDeviceAttr
from xrelay.passes.devices.domains import DomainSet

CPU, GPU = VirtualDeviceAttr("cpu", 0), VirtualDeviceAttr("cuda", 0)

Domains = DomainSet[str]


def some(count: int) -> tuple[Domains, list[int]]:
    domains: Domains = DomainSet()
    return domains, [domains.fresh() for _ in range(count)]


def test_a_demand_reaches_what_is_united():
    domains, (a, b, c) = some(3)
    assert domains.unite(a, b, "ab") is None
    assert domains.demand(b, GPU, "b") is None
    assert domains.device_of(a) == GPU
    assert domains.device_of(c) == UNCONSTRAINED


def test_partial_demands_join():
    domains, (a, b) = some(2)
    assert domains.demand(a, VirtualDeviceAttr("cuda"), "type") is None
    assert domains.demand(b, VirtualDeviceAttr(None, 1), "id") is None
    assert domains.unite(a, b, "ab") is None
    assert domains.device_of(a) == VirtualDeviceAttr("cuda", 1)


def test_a_default_fills_in_what_is_open():
    domains, (a, b) = some(2)
    cpu, gpu = domains.numbers.number(CPU), domains.numbers.number(GPU)
    domains.demand(a, VirtualDeviceAttr(scope="texture"), "a")
    domains.default(a, gpu)
    assert domains.device_of(a) == VirtualDeviceAttr("cuda", 0, scope="texture")
    assert domains.default(b, gpu) == gpu
    assert domains.default(b, cpu) == gpu
    assert domains.device_of(b) == GPU


def test_trying_what_cannot_be_changes_nothing():
    domains, (a, b, c) = some(3)
    domains.demand(a, CPU, "a")
    domains.demand(b, GPU, "b")
    assert not domains.try_unite(a, b, "ab")
    assert (domains.device_of(a), domains.device_of(b)) == (CPU, GPU)
    assert domains.find(a) != domains.find(b)
    assert domains.try_unite(a, c, "ac")
    assert domains.device_of(c) == CPU
    # A failed attempt is not part of a later explanation.
    conflict = domains.unite(c, b, "cb")
    assert conflict is not None
    assert [union.cause for union in conflict.chain] == ["ac", "cb"]


def test_a_conflict_names_both_demands_and_the_way_between():
    domains, (a, b, c) = some(3)
    domains.demand(a, CPU, "a")
    domains.unite(a, b, "ab")
    domains.unite(b, c, "bc")
    conflict = domains.demand(c, GPU, "c")
    assert conflict is not None
    assert (conflict.first.cause, conflict.second.cause) == ("a", "c")
    assert [union.cause for union in conflict.chain] == ["ab", "bc"]


def test_the_way_is_the_shortest():
    domains, (a, b, c, d) = some(4)
    for x, y, cause in ((a, b, "ab"), (b, c, "bc"), (c, d, "cd"), (a, d, "ad")):
        domains.unite(x, y, cause)
    domains.demand(a, CPU, "a")
    conflict = domains.demand(d, GPU, "d")
    assert conflict is not None
    assert [union.cause for union in conflict.chain] == ["ad"]


def test_fields_from_two_demands_conflict_with_the_one_that_differs():
    domains, (a, b, c) = some(3)
    domains.demand(a, VirtualDeviceAttr("cuda"), "type")
    domains.demand(b, VirtualDeviceAttr(None, 1), "id")
    domains.unite(a, b, "ab")
    domains.demand(c, VirtualDeviceAttr("cuda", 2), "other")
    conflict = domains.unite(a, c, "ac")
    assert conflict is not None
    assert {conflict.first.cause, conflict.second.cause} == {"id", "other"}


def test_what_is_cut_holds_no_more():
    domains, (a, b, c) = some(3)
    domains.demand(a, CPU, "a")
    domains.unite(a, b, "ab")
    domains.unite(b, c, "bc")
    conflict = domains.demand(c, GPU, "c")
    assert conflict is not None
    domains.cut(conflict.chain[1])
    assert domains.demand(c, GPU, "c") is None
    assert [domains.device_of(x) for x in (a, b, c)] == [CPU, CPU, GPU]
    conflict = domains.unite(a, c, "ac")
    assert conflict is not None
    domains.cut(conflict.first)
    assert domains.unite(a, c, "ac") is None
    assert [domains.device_of(x) for x in (a, b, c)] == [GPU, GPU, GPU]


def test_a_reason_is_the_nearest_demand_the_first_of_equals():
    domains, (a, b, c, d, e) = some(5)
    for x, y, cause in ((a, b, "ab"), (b, c, "bc"), (c, d, "cd")):
        domains.unite(x, y, cause)
    domains.demand(d, CPU, "d")
    domains.demand(b, CPU, "b")
    reasons = {
        domain: (demand.cause, union and union.cause) for domain, demand, union in domains.reasons()
    }
    assert reasons == {a: ("b", "ab"), b: ("b", None), c: ("d", "cd"), d: ("d", None)}
    assert e not in reasons


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("unite"), st.integers(0, 6), st.integers(0, 6)),
        st.tuples(st.just("try_unite"), st.integers(0, 6), st.integers(0, 6)),
        st.tuples(st.just("demand"), st.integers(0, 6), st.integers(0, 1)),
    ),
    max_size=14,
)


@exactly(200)
@given(STEPS)
def test_against_sets(steps: list[tuple[str, int, int]]):
    """Compare with explicit sets: a conflict occurs exactly if two devices meet in one set."""
    domains, names = some(7)
    classes = [{n} for n in names]
    devices: dict[int, VirtualDeviceAttr] = {}

    def device(members: set[int]) -> VirtualDeviceAttr | None:
        return next((devices[n] for n in members if n in devices), None)

    for kind, a, b in steps:
        one = next(c for c in classes if a in c)
        if kind == "demand":
            wanted = (CPU, GPU)[b]
            conflict = domains.demand(a, wanted, f"{a}")
            assert (conflict is not None) == (device(one) not in (None, wanted))
            if conflict is not None:
                break
            devices[a] = wanted
        else:
            other = next(c for c in classes if b in c)
            fits = device(one) is None or device(other) in (None, device(one))
            if kind == "try_unite":
                assert domains.try_unite(a, b, f"{a}{b}") == fits
            else:
                conflict = domains.unite(a, b, f"{a}{b}")
                assert (conflict is None) == fits
                if conflict is not None:
                    # The chain leads from the first constraint to the second, step by step.
                    at = conflict.first.domain
                    for union in conflict.chain:
                        assert at in (union.a, union.b)
                        at = union.b if at == union.a else union.a
                    assert at == conflict.second.domain
                    assert conflict.first.device.join(conflict.second.device) is None
                    break
            if fits and one is not other:
                classes = [c for c in classes if c is not one and c is not other] + [one | other]
        for members in classes:
            assert len({domains.find(n) for n in members}) == 1
            for n in members:
                assert domains.device_of(n) == (device(members) or UNCONSTRAINED)
        assert len({domains.find(n) for n in names}) == len(classes)
