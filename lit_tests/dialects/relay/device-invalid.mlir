// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// expected-error@+1 {{a device id must be at least 0, but is -1}}
func.func private @id(tensor<4xf32, #relay.device<cpu:-1>>)

// -----

// expected-error@+1 {{a device has a target and a scope, but no kind}}
func.func private @field(tensor<4xf32, #relay.device<cpu, kind = "x">>)

// -----

// expected-error@+1 {{scope is given twice}}
func.func private @twice(tensor<4xf32, #relay.device<cpu, scope = "x", scope = "y">>)

// -----

// expected-error@+1 {{target must be a string, but is 5 : i64}}
func.func private @target(tensor<4xf32, #relay.device<cpu, target = 5>>)

// -----

// expected-error@+1 {{identifier expected for a device type, or ?}}
func.func private @type(tensor<4xf32, #relay.device<"cpu">>)
