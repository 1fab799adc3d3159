// RUN: xrelay-opt --split-input-file --remarks --verify-diagnostics -p 'infer-types,plan-devices,fuse-ops,outline-primitives,create-shape-functions,manifest-alloc,simplify-shapes,remove-dead-writes,assign-pools{pools="dtcm=1KiB:1,psram=32KiB:10"}' %s

// Storages are placed for the largest sample at which they fit; a remark says so if it is not the
// upper bound of the dims.
func.func @some_sizes_fit(%x: tensor<?x32xf32> {relay.dims = ["n", 32]}) -> tensor<?x32xf32> attributes {relay.dim_bounds = {n = [1, 1000]}} {
  // expected-remark@+1 {{the storages of this function are placed for n = 100: those for n = 1000 do not fit in dtcm=1024:1, psram=32768:10: 95232 bytes are missing}}
  %a = relay.exp %x : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = relay.nn.softmax %a : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %b : tensor<?x32xf32>
}

// -----

// If they do not fit at the lower bound either, that is an error.
func.func @no_sizes_fit(%x: tensor<?x32xf32> {relay.dims = ["n", 32]}) -> tensor<?x32xf32> attributes {relay.dim_bounds = {n = [300, 1000]}} {
  // expected-error@+1 {{the storages of this function, even for n = 300, do not fit in dtcm=1024:1, psram=32768:10: 5632 bytes are missing}}
  %a = relay.exp %x : (tensor<?x32xf32>) -> tensor<?x32xf32>
  %b = relay.nn.softmax %a : (tensor<?x32xf32>) -> tensor<?x32xf32>
  func.return %b : tensor<?x32xf32>
}
