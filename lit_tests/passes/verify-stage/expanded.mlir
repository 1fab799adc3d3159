// RUN: xrelay-opt --split-input-file --verify-diagnostics -p verify-stage{stage=expanded} %s

// Ordered packs are expanded before lowering.
func.func @pack(%a: i64) {
  // expected-error @below {{memory.pack is left at stage expanded: expand-packs should have computed its offsets}}
  %pack = memory.pack ordered align 64 : !memory.pack
  %offset = memory.slice %pack [0, 1) %a
  %total = memory.total %pack
  func.return
}

// -----

// The sizes of workspaces are computed before lowering.
func.func private @f(%w: !memory.storage<#relay.device<cpu:0>> {memory.workspace = array<i64>}) {
  func.return
}
func.func @workspace_size() {
  // expected-error @below {{memory.workspace_size is left at stage expanded: expand-packs should have computed it}}
  %n = memory.workspace_size @f[0]
  func.return
}
