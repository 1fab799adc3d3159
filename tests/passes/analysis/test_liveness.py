"""Alias classes, live ranges and deaths of small functions."""

from collections.abc import Mapping

from helpers.programs.programs import parse
from xdsl.ir import Block, Operation, SSAValue

from xrelay.operators.intervals import Interval
from xrelay.passes.bytes.aliases import AliasClasses, bodies_of
from xrelay.passes.bytes.liveness import deaths, live_ranges, used_after_kill

T, V, C = "tensor<4xf32>", "tensor<2x2xf32>", "tensor<i1>"


def body(text: str, number: int = 0) -> AliasClasses:
    """Analyse function `number` of a module; T, V and C are types."""
    for name, type in (("$T", T), ("$V", V), ("$C", C)):
        text = text.replace(name, type)
    return bodies_of(parse(text))[number]


def names(classes: AliasClasses) -> list[list[str]]:
    """Return the names of the values in classes of more than one."""
    members: dict[int, list[str]] = {}
    for value in classes.values:
        members.setdefault(classes.of(value), []).append(value.name_hint or "?")
    return [values for values in members.values() if len(values) > 1]


def value(classes: AliasClasses, name: str) -> SSAValue:
    (found,) = [value for value in classes.values if value.name_hint == name]
    return found


def dying(points: Mapping[Operation | Block, list[SSAValue]]) -> dict[str, list[str]]:
    """Return what dies after each op with an attribute, by its name, or at a block's start."""
    return {
        "start" if isinstance(point, Block) else next(iter(point.attributes), point.name): [
            value.name_hint or "?" for value in values
        ]
        for point, values in points.items()
    }


class Test_classes:
    def test_views_tuples_and_results_of_calls_of_unknown_functions_share_bytes(self):
        classes = body("""
            func.func @main() {
              %a = "test.op"() : () -> $T
              %b = "test.op"() : () -> $T
              %alone = "test.op"() : () -> $T
              %v = vm.reshape_tensor %a : ($T) -> $V
              %t = relay.tuple %b, %v : ($T, $V) -> tuple<$T, $V>
              %y = func.call @f(%t) : (tuple<$T, $V>) -> $T
              func.return
            }
            func.func private @f(tuple<$T, $V>) -> $T
        """)
        assert names(classes) == [["a", "b", "v", "t", "y"]]

    def test_a_constant_joins_no_class(self):
        classes = body("""
            func.func @main() {
              %c = relay.constant dense<1.0> : $T
              %a = "test.op"() : () -> $T
              %b = "test.op"() : () -> $T
              %t = relay.tuple %a, %c : ($T, $T) -> tuple<$T, $T>
              %u = relay.tuple %b, %c : ($T, $T) -> tuple<$T, $T>
              func.return
            }
        """)
        assert names(classes) == [["a", "t"], ["b", "u"]]

    def test_a_call_shares_the_arguments_that_its_callee_returns(self):
        text = """
            func.func @main() {
              %a = "test.op"() : () -> $T
              %b = "test.op"() : () -> $T
              %y, %z = func.call @f(%a, %b) : ($T, $T) -> ($T, $T)
              func.return
            }
            func.func @f(%p: $T, %q: $T) -> ($T, $T) {
              %v = "test.op"() : () -> $T
              func.return RESULTS : $T, $T
            }
        """
        for results, wanted in (
            ("%p, %v", [["a", "y", "z"]]),
            ("%v, %v", [["y", "z"]]),
            ("%q, %p", [["a", "y", "z", "b"]]),
        ):
            found = [sorted(members) for members in names(body(text.replace("RESULTS", results)))]
            assert found == [sorted(members) for members in wanted]

    def test_a_branch_hands_over_what_is_not_used_after_it(self):
        text = """
            func.func @main(%c: $C) {
              %a = "test.op"() : () -> $T
              %r = relay.if %c : $C -> ($T) {
                relay.yield %a : $T
              } else {
                %b = "test.op"() : () -> $T
                relay.yield %b : $T
              }
              "test.op"(LAST) : ($T) -> ()
              func.return
            }
        """
        assert names(body(text.replace("LAST", "%r"))) == []
        assert names(body(text.replace("LAST", "%a"))) == [["a", "r"]]

    def test_two_results_of_one_value_share_bytes(self):
        classes = body("""
            func.func @main(%c: $C) {
              %a = "test.op"() : () -> $T
              %v = vm.reshape_tensor %a : ($T) -> $T
              %r, %s = relay.if %c : $C -> ($T, $T) {
                relay.yield %a, %v : $T, $T
              } else {
                %b = "test.op"() : () -> $T
                %d = "test.op"() : () -> $T
                relay.yield %b, %d : $T, $T
              }
              func.return
            }
        """)
        assert names(classes) == [["a", "v"], ["r", "s"]]

    def test_bytes_of_the_caller_do_not_end_here(self):
        classes = body("""
            func.func @main(%x: $T) -> $T {
              %v = vm.reshape_tensor %x : ($T) -> $V
              %a = "test.op"() : () -> $T
              %y = "test.op"() : () -> $T
              func.return %y : $T
            }
        """)
        ends = {v.name_hint: classes.is_owned(v) and not classes.is_kept(v) for v in classes.values}
        assert ends == {"x": False, "v": False, "a": True, "y": False}


class Test_liveness:
    BRANCH = """
        func.func @main(%c: $C) {
          %a = "test.op"() : () -> $T
          %b = "test.op"() : () -> $T
          relay.if %c : $C {
            "test.op"(%a) {first} : ($T) -> ()
            relay.yield
          } else {
            relay.yield
          }
          "test.op"(%b) {last} : ($T) -> ()
          func.return
        }
    """

    def test_deaths_on_each_path(self):
        assert dying(deaths(body(self.BRANCH)).names) == {
            "last": ["b"],
            "first": ["a"],
            "start": ["a"],
        }

    def test_ranges_are_half_open_in_program_order(self):
        classes = body(self.BRANCH)
        ranges = live_ranges(classes)
        a, b, c = (ranges[classes.of(value(classes, name))] for name in "abc")
        # Ops 2 to 5 are the branch and those in it, 6 the last use, 7 the return.
        assert (a, b) == (Interval(0, 4), Interval(1, 7))
        assert c == Interval(0, 8), "a parameter lives to the end"
        assert a.meets(b)
        assert not Interval(0, 4).meets(Interval(4, 5))

    def test_a_kill_is_no_use(self):
        classes = body("""
            func.func @main() {
              %a = "test.op"() {def} : () -> $T
              "test.op"(%a) {use} : ($T) -> ()
              "test.op"() {late} : () -> ()
              memory.kill %a : $T
              func.return
            }
        """)
        found = deaths(classes)
        assert dying(found.names) == {"use": ["a"]}
        (point,) = found.kills
        assert isinstance(point, Operation)
        assert "late" in point.attributes

    def test_names_that_outlive_a_kill_are_reported(self):
        classes = body("""
            func.func @main() {
              %a = "test.op"() : () -> $T
              %v = vm.reshape_tensor %a : ($T) -> $V
              memory.kill %a : $T
              "test.op"(%v) {use} : ($V) -> ()
              func.return
            }
        """)
        (alive,) = deaths(classes).alive.values()
        assert [value.name_hint for value in alive] == ["v"]
        found = used_after_kill(classes)
        assert found is not None
        assert "use" in found[0].attributes

    def test_new_bytes_may_take_the_class_of_dead_ones(self):
        classes = body("""
            func.func @main(%c: $C) {
              %a = "test.op"() : () -> $T
              %r = relay.if %c : $C -> ($T) {
                relay.yield %a : $T
              } else {
                memory.kill %a : $T
                %b = "test.op"() : () -> $T
                relay.yield %b : $T
              }
              "test.op"(%r) : ($T) -> ()
              memory.kill %r : $T
              func.return
            }
        """)
        assert used_after_kill(classes) is None
