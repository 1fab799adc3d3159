// RUN: xrelay-opt --split-input-file --verify-diagnostics -p describe-entries %s

// expected-error@+1 {{'x' of @main is a !relay.ref<tensor<4xf32>>, but native code takes and returns tensors only: run the program by the machine (xrelay-opt -p vm, xrelay-run)}}
func.func @main(%x: !relay.ref<tensor<4xf32>>) {
  func.return
}

// -----

// expected-error@+1 {{'x' of @main is a tuple<tensor<4xf32>>, but native code takes and returns tensors only: run flatten-tuples first}}
func.func @main(%x: tuple<tensor<4xf32>>) {
  func.return
}
