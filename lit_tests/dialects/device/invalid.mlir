// RUN: xrelay-opt --verify-diagnostics --split-input-file %s

// What is no device is said with what a device has.

// expected-error@+1 {{a device id must be at least 0, but is -1}}
"test.op"() {a = #relay.device<cuda:-1>} : () -> ()

// -----

// expected-error@+1 {{unknown device field 'host'; expected 'target' or 'scope'}}
"test.op"() {a = #relay.device<cuda:0, host = "llvm">} : () -> ()

// -----

// expected-error@+1 {{duplicate device field 'target'}}
"test.op"() {a = #relay.device<cuda:0, target = "a", target = "b">} : () -> ()

// -----

// expected-error@+1 {{scope must be a string, but is 3 : i64}}
"test.op"() {a = #relay.device<cuda:0, scope = 3 : i64>} : () -> ()

// -----

// expected-error@+1 {{for a device type, or ?}}
"test.op"() {a = #relay.device<>} : () -> ()

// -----

// expected-error@+1 {{integer}}
"test.op"() {a = #relay.device<cuda:one>} : () -> ()
