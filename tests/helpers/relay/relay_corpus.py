"""Programs that use much of the language, for tests that mutate them."""

# ruff: noqa: E501 (programs)

PROGRAMS = (
    r"""
type List[A] { Cons(A, List[A]), Nil }
def @map[A, B](%f: fn (A) -> B, %xs: List[A]) -> List[B] {
  match (%xs) {
    Cons(%x, %rest) => Cons(%f(%x), @map(%f, %rest)),
    Nil => Nil,
  }
}
def @len[A](%xs: List[A]) -> int32 {
  match (%xs) { Cons(_, %r) => 1 + @len(%r), Nil => 0 }
}
def @main(%x: Tensor[(4), float32], %c: bool) {
  let %g = fn (%y) { nn.relu(%y) };
  let %l = Cons(%x, Cons(%g(%x), Nil()));
  let %m = @map(%g, %l);
  %0 = add(%x, %x);
  %1 = if (%c) { %2 = multiply(%0, %x); %2 } else { subtract(%x, %x) };
  let %loop = fn (%i: int32, %a: Tensor[(4), float32]) -> Tensor[(4), float32] {
    if (%i < 10) { %loop(%i + 1, %a * %a) } else { %a }
  };
  let %r = ref(%1);
  ref_write(%r, %loop(0, ref_read(%r)));
  %3 = split(%x, indices_or_sections=2);
  %4 = concatenate((%3.0, %3.1));
  (ref_read(%r), @len(%m), %4, %3)
}
""",
    r"""
def @main(%x: int32) {
  let %l = Cons(1, Cons(2, Cons(%x, Nil)));
  let %sq = @map(fn (%a) { %a * %a }, %l);
  let %t = Rose(1, Cons(Rose(2, Nil), Nil));
  let %n = @nat_double(s(s(z)));
  (@sum(%sq), @length(@filter(fn (%a) { %a > 3 }, %sq)), @hd(@rev(%l)), @foldr(add, 0, %l), @size(@tmap(fn (%q) { %q + 1}, %t)), @nat_iterate(fn (%i) { %i + 1 }, %n)(0),
   @sum(@map(@snd, @zip(%l, %sq))), @map_accuml(fn (%s, %b) { (%s + %b, %s) }, 0, %l).0, @iterate(fn (%y) { %y * 2 }, 10)(1),
   @sum(@unfoldr(fn (%k) { if (%k > 5) { None } else { Some((%k + 1, %k)) } }, 0)))
}
""",
    r"""
type Opt[A] { Just(A), Nothing }
extern type Store
def @gen[A, B](%f: fn (A) -> B, %o: Opt[A], %d: B) -> B {
  match (%o) { Just(%x) => %f(%x), Nothing => %d }
}
def @rec(%n: int32, %a: Tensor[(2, 3), float32]) -> Tensor[(2, 3), float32] {
  if (%n <= 0) { %a } else { @rec(%n - 1, tanh(%a)) }
}
def @main(%x: Tensor[(2, 3), float32], %w: Tensor[(4, 3), float32], %i: Tensor[(2), int64], %c: bool, Primitive=1, hash="ab\"c") -> (Tensor[(2, 4), float32], _) {
  %0 = nn.dense(%x, %w, units=4);
  %1 = nn.bias_add(%x, cast(%i, dtype="float32"), axis=0);
  %2 = split(%1, indices_or_sections=[1], axis=1);
  %3 = %2.0;
  %4 = (%3, %2.1);
  %5 = concatenate(%4, axis=1);
  let %k = fn (%t, %u) { multiply(%t, add(%u, 1f)) };
  let %p = if (%c) { %6 = %k(%x, %5); @rec(3, %6) } else { transpose(transpose(%x, axes=[1, 0]), axes=None) };
  let %r = ref(%p);
  let %u = ref_write(%r, nn.relu(ref_read(%r)));
  let %o = Just(%x);
  let %q = @gen(fn (%v) { sum(%v, axis=[1], keepdims=True) }, %o, mean(%x, axis=1, keepdims=1));
  let %g = @gen;
  let %h = %g(sqrt, Just(2f), 3f);
  let %z = match? (%4) { (%a, %b) => stack((squeeze(%a), squeeze(%a)), axis=0) };
  %7 = take(%x, %i, axis=0, mode="wrap");
  %8 = strided_slice(%7, begin=[0, 0], end=[1, 2], strides=[1, 1], axes=[0, 1]);
  %9 = where(%8 < 0f, %8, zeros_like(%8));
  %10 = reshape(%9, newshape=[-1, 0]);
  %11 = nn.dropout(%0, rate=0.3f);
  (%11.0, (%q, %h, %z, %10, nn.batch_flatten(%x), argmax(%x, axis=[1]), %u, nn.pad(%x, 0f, pad_width=[[0, 0], [1, 1]])))
}
""",
    r"""
  %0 = nn.conv2d(%x, %w, padding=[1, 1], channels=6, kernel_size=[3, 3], strides=[2, 2]);
  %1 = nn.batch_norm(%0, %g, %g, %g, %g, epsilon=0.001f);
  %2 = nn.max_pool2d(%1.0, pool_size=[2, 2], strides=[2, 2], padding=[0, 0, 0, 0]);
  %3 = nn.avg_pool2d(%2, pool_size=2, count_include_pad=1);
  let %f = fn (%n: int64) { let %y = %n * 2i64; if (%y > 10i64) { %y } else { %f(%y) } };
  let %_ = %f(1i64);
  (%3, clip(%1.1, a_min=0f, a_max=6f))
}
""",
    r"""
type Shape[A] { Dot, Line(A, Shape[A]) }
def @apply(%f: fn (int32) -> (int32, int32), %x: int32) { %f(%x).0 }
def @main[B](%y: int32, %b: B) {
  let %pair = fn [A](%x: A) -> (A, int32) { (%x, %y) };
  let %r = ref(0);
  %0 = fn [A](%x: A) { ref_write(%r, ref_read(%r) + %y); (%x, %b) };
  let %line: fn [A](A, _) -> _ = fn [A](%x: A, %n: int32) -> Shape[A] {
    let %more = fn [C](%c: C) -> Shape[A] { if (%n == 0) { Dot } else { %line(%x, %n - 1) } };
    Line(%x, %more((%b, %n)))
  };
  let %size = fn (%s: Shape[int32]) -> int32 {
    match (%s) { Dot => 0, Line(_, Dot) => 1, Line(%h, Line(_, %t)) => %h }
  };
  let %same = %pair;
  (%pair(1), %same(2f), %0(True), %0(%b), %size(%line(%y, 3)), @apply(%pair, %y), %line(%b, 1))
}
""",
)
