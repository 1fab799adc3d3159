// RUN: xrelay-opt --split-input-file --verify-diagnostics -p 'aot-lower-main{prefix=net}' %s

// A param must be in one of the pools that the module lists.
#flash = #relay.device<cpu:0, scope = "flash">
builtin.module attributes {memory.constant_pools = [#memory.pool<#flash, cost 5, align 1>], xrelay.params = {w = "float32"}} {
  // expected-error@+1 {{the param is in no pool of constants: run place-constants}}
  "memref.global"() <{sym_name = "w", type = memref<4xf32>, initial_value, sym_visibility = "private"}> {xrelay.param = "w", memory.pool = 1 : i64, memory.offset = 0 : i64} : () -> ()
  func.func @main() -> memref<4xf32> attributes {xrelay.entry = {function = {name = "main", params = [], results = [{name = "y", spec = {dtype = "float32", shape = [4 : i64]}}]}}} {
    %w = memref.get_global @w : memref<4xf32>
    func.return %w : memref<4xf32>
  }
}
