// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// What goes into a cell and comes out of it is of one type.

%x = "test.op"() : () -> tensor<4xf32>
// expected-error@+1 {{the result of relay.ref_create is !relay.ref<tensor<4xf32>>, but is declared as !relay.ref<tensor<5xf32>>}}
%r = relay.ref_create %x : (tensor<4xf32>) -> !relay.ref<tensor<5xf32>>

// -----

%r = "test.op"() : () -> !relay.ref<tensor<4xf32>>
// expected-error@+1 {{the result of relay.ref_read is tensor<4xf32>, but is declared as tensor<5xf32>}}
%x = relay.ref_read %r : (!relay.ref<tensor<4xf32>>) -> tensor<5xf32>

// -----

%r, %x = "test.op"() : () -> (!relay.ref<tensor<4xf32>>, tensor<5xf32>)
// expected-error@+1 {{cannot write tensor<5xf32> to a !relay.ref<tensor<4xf32>>}}
%u = relay.ref_write %r, %x : (!relay.ref<tensor<4xf32>>, tensor<5xf32>) -> tuple<>

// -----

%r, %x = "test.op"() : () -> (!relay.ref<tensor<4xf32>>, tensor<4xf32>)
// expected-error@+1 {{the result of relay.ref_write is tuple<>, but is declared as tuple<tensor<4xf32>>}}
%u = relay.ref_write %r, %x : (!relay.ref<tensor<4xf32>>, tensor<4xf32>) -> tuple<tensor<4xf32>>
