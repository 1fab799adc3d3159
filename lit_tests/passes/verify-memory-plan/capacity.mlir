// RUN: xrelay-opt --verify-diagnostics -p verify-memory-plan %s

// A storage of static size is within the capacity of its pool.
#dtcm = #relay.device<cpu:0, scope = "dtcm">
builtin.module attributes {memory.pools = [#memory.pool<#dtcm, capacity 64, cost 1, align 1>]} {
  func.func @too_large() {
    %s = memory.alloc_storage 64 align 64 : !memory.storage<#dtcm>
    // expected-error@+1 {{a storage of 65 bytes does not fit in pool dtcm, which has 64}}
    %t = memory.alloc_storage 65 align 64 : !memory.storage<#dtcm>
    func.return
  }
}
