// RUN: xrelay-opt -t relay-text %s | filecheck %s

// A match without cases does not say what it gives, so that a `let` does.
//
// CHECK:      def @never(%n: Never) -> int32 {
// CHECK-NEXT:   let %r: int32 = (match (%n) {});
// CHECK-NEXT:   %r
// CHECK-NEXT: }
relay.type_data @Never []
func.func @never(%n: !relay.adt<@Never, []>) -> tensor<i32> {
  %r = relay.match %n : !relay.adt<@Never, []> -> (tensor<i32>) {
  }
  func.return %r : tensor<i32>
}
