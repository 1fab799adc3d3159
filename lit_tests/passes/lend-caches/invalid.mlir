// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'lend-caches{caches="past=64"}' %s

// A cache that nothing extends, along another dim, or not as a result, is an error.

// expected-error@+1 {{'past' of @unread is a cache, but no concatenations begin with it; there must be one}}
func.func @unread(%past: tensor<?x8xf32>, %new: tensor<1x8xf32>) -> tensor<?x8xf32> {
  %all = relay.concatenate %new, %past {axis = 0} : (tensor<1x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %all : tensor<?x8xf32>
}

// -----

func.func @other_dim(%past: tensor<?x8xf32> {relay.cache = {axis = 0, maximum = 64}}, %new: tensor<?x1xf32>) -> tensor<?x9xf32> {
  // expected-error@+1 {{'past' of @other_dim is a cache, but it is extended along dim 1 in place of dim 0}}
  %all = relay.concatenate %past, %new {axis = 1} : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x9xf32>
  func.return %all : tensor<?x9xf32>
}

// -----

func.func @kept(%past: tensor<?x8xf32>, %new: tensor<1x8xf32>) -> tensor<?x8xf32> {
  // expected-error@+1 {{'past' of @kept is a cache, but its concatenation is not one of the results}}
  %all = relay.concatenate %past, %new {axis = 0} : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  %y = relay.nn.relu %all : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %y : tensor<?x8xf32>
}

// -----

// expected-error@+1 {{'past' of @two_open is a cache, so its only dynamic dim must be dim 0, but it is tensor<?x?xf32>}}
func.func @two_open(%past: tensor<?x?xf32>, %new: tensor<1x?xf32>) -> tensor<?x?xf32> {
  %all = relay.concatenate %past, %new {axis = 0} : (tensor<?x?xf32>, tensor<1x?xf32>) -> tensor<?x?xf32>
  func.return %all : tensor<?x?xf32>
}

// -----

// expected-error@+1 {{@called has a cache, but is called in the module}}
func.func @called(%past: tensor<?x8xf32>, %new: tensor<1x8xf32>) -> tensor<?x8xf32> {
  %all = relay.concatenate %past, %new {axis = 0} : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  func.return %all : tensor<?x8xf32>
}
func.func @caller(%x: tensor<?x8xf32>, %new: tensor<1x8xf32>) -> tensor<?x8xf32> {
  %all = func.call @called(%x, %new) : (tensor<?x8xf32>, tensor<1x8xf32>) -> tensor<?x8xf32>
  func.return %all : tensor<?x8xf32>
}
