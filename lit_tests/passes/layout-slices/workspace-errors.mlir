// RUN: xrelay-opt --split-input-file --verify-diagnostics -p layout-slices,expand-packs %s

// The size of a workspace that is used without a pack is not known.
func.func private @f(%w: !memory.storage {memory.workspace = array<i64>}) {
  %t = memory.alloc_tensor %w[0] : tensor<4xf32>
  func.return
}
func.func @without_a_pack() {
  // expected-error@+1 {{the size of workspace 0 of @f is not known: expected one memory.pack within it (run pack-storage first)}}
  %n = memory.workspace_size @f[0]
  func.return
}

// -----

// A workspace has one layout.
func.func private @two_packs(%w: !memory.storage {memory.workspace = array<i64>}) {
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) 64
  %total = memory.total %pack
  // expected-error@+1 {{a workspace has one pack, but this is the second}}
  %again_pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %other = memory.slice %again_pack [0, 1) 64
  %again = memory.total %again_pack
  func.return
}

// -----

func.func @not_a_parameter() {
  %w = memory.alloc_storage 64 align 64 : !memory.storage
  // expected-error@+1 {{the workspace of a pack must be a parameter}}
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) 64
  %total = memory.total %pack
  func.return
}
func.func private @f(%w: !memory.storage {memory.workspace = array<i64>}) {
  func.return
}

// -----

// A size that depends on more than the listed shapes cannot be computed by callers.
func.func private @f(%n: i64, %w: !memory.storage {memory.workspace = array<i64>}) {
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) %n
  %total = memory.total %pack
  func.return
}
func.func @more_than_shapes() {
  // expected-error@+1 {{the size of workspace 1 of @f depends on more than the shapes that its attribute memory.workspace lists}}
  %n = memory.workspace_size @f[1]
  func.return
}

// -----

// A function cannot ask for its own workspace.
func.func private @f(%w: !memory.storage {memory.workspace = array<i64>}) {
  // expected-error@+1 {{the size of workspace 0 of @f is not known}}
  %n = memory.workspace_size @f[0]
  %pack = memory.pack align 64 within %w : !memory.storage -> !memory.pack
  %offset = memory.slice %pack [0, 1) %n
  %total = memory.total %pack
  func.return
}
