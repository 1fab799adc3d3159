// RUN: xrelay-opt --split-input-file -p 'compute-by-rows,choose-schedules{cpu=x86-64-v3},divide-between-threads' %s | filecheck %s

// Chunks of a product are whole tiles. Its work is known, and enough.
//
// CHECK-LABEL: @product
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 1 : i64, turns = 32 : i64, loops = 3 : i64}, {kind = "register-tile"
// CHECK-NOT:     xrelay_work
func.func private @product(%mx: memref<64x256xf32>, %mw: memref<256x512xf32>, %out: memref<64x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<64x256xf32> to tensor<64x256xf32>
  %w = bufferization.to_tensor %mw restrict : memref<256x512xf32> to tensor<256x512xf32>
  %se = tensor.empty() : tensor<64x512xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<64x512xf32>) -> tensor<64x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<64x256xf32>, tensor<256x512xf32>) outs(%s0 : tensor<64x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<64x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<64x512xf32>, memref<64x512xf32>) -> ()
  func.return
}

// -----

// Of columns that are no whole number of tiles, chunks have the fewest widths: here 64 + 64 + 64 + 8.
//
// CHECK-LABEL: @ragged_columns
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 1 : i64, turns = 200 : i64, loops = 3 : i64}, {kind = "register-tile", sizes = array<i64: 1, 64>
func.func private @ragged_columns(%mx: memref<1x2048xf32>, %mw: memref<2048x1000xf32>, %out: memref<1x1000xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<1x2048xf32> to tensor<1x2048xf32>
  %w = bufferization.to_tensor %mw restrict : memref<2048x1000xf32> to tensor<2048x1000xf32>
  %se = tensor.empty() : tensor<1x1000xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<1x1000xf32>) -> tensor<1x1000xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<1x2048xf32>, tensor<2048x1000xf32>) outs(%s0 : tensor<1x1000xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<1x1000xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<1x1000xf32>, memref<1x1000xf32>) -> ()
  func.return
}

// -----

// Rows of windows are divided, not channels: the loops before and after have the same rows.
//
// CHECK-LABEL: @pooling
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 1 : i64, loops = 4 : i64}
func.func private @pooling(%mx: memref<15x40x512xf32>, %out: memref<13x40x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<15x40x512xf32> to tensor<15x40x512xf32>
  %window = tensor.empty() : tensor<3xf32>
  %e = tensor.empty() : tensor<13x40x512xf32>
  %z = arith.constant 0xFF800000 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<13x40x512xf32>) -> tensor<13x40x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, c, k) -> (i + k, j, c)>, affine_map<(i, j, c, k) -> (k)>, affine_map<(i, j, c, k) -> (i, j, c)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %window : tensor<15x40x512xf32>, tensor<3xf32>) outs(%f : tensor<13x40x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.maximumf %e2, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<13x40x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<13x40x512xf32>, memref<13x40x512xf32>) -> ()
  func.return
}

// -----

// Rows are divided before columns, unless there are few of them.
//
// CHECK-LABEL: @rows_first
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 48 : i64, loops = 3 : i64}
func.func private @rows_first(%mx: memref<768x256xf32>, %mw: memref<256x256xf32>, %out: memref<768x256xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<768x256xf32> to tensor<768x256xf32>
  %w = bufferization.to_tensor %mw restrict : memref<256x256xf32> to tensor<256x256xf32>
  %se = tensor.empty() : tensor<768x256xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<768x256xf32>) -> tensor<768x256xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<768x256xf32>, tensor<256x256xf32>) outs(%s0 : tensor<768x256xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<768x256xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<768x256xf32>, memref<768x256xf32>) -> ()
  func.return
}

// -----

// So are open ones if one row has too little work to be divided.
//
// CHECK-LABEL: @open_rows_first
// CHECK-SAME:    {kind = "threads", loop = 0 : i64, turns = 16 : i64, loops = 3 : i64}
// CHECK:         call @xrelay_work
func.func private @xrelay_work(i64) -> ()
func.func private @open_rows_first(%mx: memref<?x128xf32>, %mw: memref<128x512xf32>, %out: memref<?x512xf32>) attributes {xrelay.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %mx, %c0 : memref<?x128xf32>
  %x = bufferization.to_tensor %mx restrict : memref<?x128xf32> to tensor<?x128xf32>
  %w = bufferization.to_tensor %mw restrict : memref<128x512xf32> to tensor<128x512xf32>
  %se = tensor.empty(%n) : tensor<?x512xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x128xf32>, tensor<128x512xf32>) outs(%s0 : tensor<?x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x512xf32>, memref<?x512xf32>) -> ()
  func.return
}

// -----

// A kernel with open rows says its work first: that of the rows, and of reading the matrix.
//
// CHECK-LABEL: @open
// CHECK-SAME:    {kind = "threads", loop = 1 : i64, turns = 32 : i64, loops = 3 : i64}
// CHECK:         %[[C0:.*]] = arith.constant 0 : index
// CHECK:         %[[ROWS:.*]] = memref.dim %out, %[[C0]]
// CHECK:         %[[C3:.*]] = arith.constant 3 : index
// CHECK:         %[[MORE:.*]] = arith.addi %[[ROWS]], %[[C3]]
// CHECK:         %[[C:.*]] = arith.constant 131072 : index
// CHECK:         %[[ALL:.*]] = arith.muli %[[MORE]], %[[C]]
// CHECK:         %[[WORK:.*]] = arith.index_cast %[[ALL]] : index to i64
// CHECK-NEXT:    func.call @xrelay_work(%[[WORK]]) : (i64) -> ()
// CHECK:       func.func private @xrelay_work(i64) -> ()
func.func private @open(%mx: memref<?x256xf32>, %mw: memref<256x512xf32>, %out: memref<?x512xf32>) attributes {xrelay.kernel} {
  %c0 = arith.constant 0 : index
  %n = memref.dim %mx, %c0 : memref<?x256xf32>
  %x = bufferization.to_tensor %mx restrict : memref<?x256xf32> to tensor<?x256xf32>
  %w = bufferization.to_tensor %mw restrict : memref<256x512xf32> to tensor<256x512xf32>
  %se = tensor.empty(%n) : tensor<?x512xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%se : tensor<?x512xf32>) -> tensor<?x512xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>],
      iterator_types = ["parallel", "parallel", "reduction"]
    } ins(%x, %w : tensor<?x256xf32>, tensor<256x512xf32>) outs(%s0 : tensor<?x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %p = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %p : f32
    linalg.yield %v : f32
  } -> tensor<?x512xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x512xf32>, memref<?x512xf32>) -> ()
  func.return
}

// -----

// A loop without a reduction is divided along its outermost dims; a function of `math` is work.
// A small one stays whole.
//
// CHECK-LABEL: @pointwise
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 16 : i64, loops = 2 : i64}]
// CHECK-LABEL: @small
// CHECK-NOT:     xrelay.schedule
func.func private @pointwise(%mx: memref<256x512xf32>, %out: memref<256x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<256x512xf32> to tensor<256x512xf32>
  %e = tensor.empty() : tensor<256x512xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<256x512xf32>) outs(%e : tensor<256x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<256x512xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<256x512xf32>, memref<256x512xf32>) -> ()
  func.return
}
func.func private @small(%mx: memref<16x512xf32>, %out: memref<16x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<16x512xf32> to tensor<16x512xf32>
  %e = tensor.empty() : tensor<16x512xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<16x512xf32>) outs(%e : tensor<16x512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<16x512xf32>
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<16x512xf32>, memref<16x512xf32>) -> ()
  func.return
}

// -----

// Products of an open number of matrices are divided between these, as columns are too few.
//
// CHECK-LABEL: @batches
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 1 : i64, loops = 4 : i64}, {kind = "register-tile"
// CHECK:         call @xrelay_work
func.func private @batches(%mx: memref<?x?x64xf32>, %my: memref<?x64x32xf32>, %out: memref<?x?x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?x64xf32> to tensor<?x?x64xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x64x32xf32> to tensor<?x64x32xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x64xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?x64xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %y : tensor<?x?x64xf32>, tensor<?x64x32xf32>) outs(%s0 : tensor<?x?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %q = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x?x32xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x?x32xf32>, memref<?x?x32xf32>) -> ()
  func.return
}

// -----

// Attention has open columns, or sums of open length, which are part of the work.
//
// CHECK-LABEL: @open_sums
// CHECK-SAME:    xrelay.schedule = [{kind = "threads", loop = 0 : i64, turns = 1 : i64, loops = 4 : i64}, {kind = "register-tile"
// CHECK:         %[[AXIS:.*]] = arith.constant 2 : index
// CHECK-NEXT:    %[[K:.*]] = memref.dim %mx, %[[AXIS]]
// CHECK-NEXT:    %[[W:.*]] = arith.muli %{{.*}}, %[[K]]
// CHECK-NEXT:    %[[C:.*]] = arith.index_cast %[[W]]
// CHECK-NEXT:    call @xrelay_work(%[[C]])
func.func private @open_sums(%mx: memref<?x?x?xf32>, %my: memref<?x?x32xf32>, %out: memref<?x?x32xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x?x?xf32> to tensor<?x?x?xf32>
  %y = bufferization.to_tensor %my restrict : memref<?x?x32xf32> to tensor<?x?x32xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x?x?xf32>
  %c1 = arith.constant 1 : index
  %m = tensor.dim %x, %c1 : tensor<?x?x?xf32>
  %e = tensor.empty(%n, %m) : tensor<?x?x32xf32>
  %z = arith.constant 0.0 : f32
  %s0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x?x32xf32>) -> tensor<?x?x32xf32>
  %p = linalg.generic {
      indexing_maps = [affine_map<(b, i, j, k) -> (b, i, k)>, affine_map<(b, i, j, k) -> (b, k, j)>, affine_map<(b, i, j, k) -> (b, i, j)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"]
    } ins(%x, %y : tensor<?x?x?xf32>, tensor<?x?x32xf32>) outs(%s0 : tensor<?x?x32xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %q = arith.mulf %e0, %e1 : f32
    %v = arith.addf %e2, %q : f32
    linalg.yield %v : f32
  } -> tensor<?x?x32xf32>
  bufferization.materialize_in_destination %p in restrict writable %out : (tensor<?x?x32xf32>, memref<?x?x32xf32>) -> ()
  func.return
}

// -----

// What computes rows is divided between them, with the memory that a thread has for one; an open number is in chunks of 16.
//
// CHECK-LABEL: @rows
// CHECK:         call @xrelay_work
// CHECK:         %[[UP:.*]] = arith.addi %n, %{{.*}} : index
// CHECK:         %[[CHUNKS:.*]] = arith.floordivsi %[[UP]], %{{.*}} : index
// CHECK:         scf.parallel (%[[C:.*]]) = (%{{.*}}) to (%[[CHUNKS]]) step
// CHECK:           %[[START:.*]] = arith.muli %[[C]], %{{.*}} : index
// CHECK:           %[[END:.*]] = arith.addi %[[START]], %{{.*}} : index
// CHECK:           %[[STOP:.*]] = arith.minsi %[[END]], %n : index
// CHECK:           memref.alloca() : memref<f32>
// CHECK:           scf.for %{{.*}} = %[[START]] to %[[STOP]] step
func.func private @rows(%mx: memref<?x512xf32>, %out: memref<?x512xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x512xf32> to tensor<?x512xf32>
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x512xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?xf32>
  %s0 = linalg.fill ins(%z : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x : tensor<?x512xf32>) outs(%s0 : tensor<?xf32>) {
  ^bb0(%e0: f32, %e1: f32):
    %v = arith.addf %e1, %e0 : f32
    linalg.yield %v : f32
  } -> tensor<?xf32>
  %f = tensor.empty(%n) : tensor<?x512xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x, %s : tensor<?x512xf32>, tensor<?xf32>) outs(%f : tensor<?x512xf32>) {
  ^bb0(%e0: f32, %e1: f32, %e2: f32):
    %v = arith.divf %e0, %e1 : f32
    linalg.yield %v : f32
  } -> tensor<?x512xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<?x512xf32>, memref<?x512xf32>) -> ()
  func.return
}

// -----

// Rows are divided if what a thread keeps of one is on its stack: here not, as the operand is read again.
//
// CHECK-LABEL: @rows
// CHECK:         scf.parallel
// CHECK-LABEL: @long_rows
// CHECK-NOT:     scf.parallel
func.func private @rows(%mx: memref<256x4096xf32>, %out: memref<256x4096xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<256x4096xf32> to tensor<256x4096xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x4096xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<256x4096xf32>) outs(%e : tensor<256x4096xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<256x4096xf32>
  %f = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%y : tensor<256x4096xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = arith.addf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256xf32>
  %h = tensor.empty() : tensor<256x4096xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<256x4096xf32>, tensor<256xf32>) outs(%h : tensor<256x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256x4096xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256x4096xf32>, memref<256x4096xf32>) -> ()
  func.return
}
func.func private @long_rows(%mx: memref<256x4097xf32>, %out: memref<256x4097xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<256x4097xf32> to tensor<256x4097xf32>
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x4097xf32>
  %y = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%x : tensor<256x4097xf32>) outs(%e : tensor<256x4097xf32>) {
  ^bb0(%a: f32, %b: f32):
    %v = math.exp %a : f32
    linalg.yield %v : f32
  } -> tensor<256x4097xf32>
  %f = tensor.empty() : tensor<256xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<256xf32>) -> tensor<256xf32>
  %s = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]
    } ins(%x, %y : tensor<256x4097xf32>, tensor<256x4097xf32>) outs(%g : tensor<256xf32>) {
  ^bb0(%c: f32, %a: f32, %b: f32):
    %p = arith.mulf %a, %c : f32
    %v = arith.addf %p, %b : f32
    linalg.yield %v : f32
  } -> tensor<256xf32>
  %h = tensor.empty() : tensor<256x4097xf32>
  %r = linalg.generic {
      indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i, j)>],
      iterator_types = ["parallel", "parallel"]
    } ins(%y, %s : tensor<256x4097xf32>, tensor<256xf32>) outs(%h : tensor<256x4097xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %v = arith.divf %a, %b : f32
    linalg.yield %v : f32
  } -> tensor<256x4097xf32>
  bufferization.materialize_in_destination %r in restrict writable %out : (tensor<256x4097xf32>, memref<256x4097xf32>) -> ()
  func.return
}

// -----

// The turns of a scan, whose sums go from turn to turn, are not divided.
//
// CHECK-LABEL: @scan
// CHECK-NOT:     scf.parallel
// CHECK:         scf.for
func.func private @scan(%mx: memref<?x600xf32>, %out: memref<?x600xf32>) attributes {xrelay.kernel} {
  %x = bufferization.to_tensor %mx restrict : memref<?x600xf32> to tensor<?x600xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c600 = arith.constant 600 : index
  %n = tensor.dim %x, %c0 : tensor<?x600xf32>
  %z = arith.constant 0.0 : f32
  %e = tensor.empty(%n) : tensor<?x1xf32>
  %s0 = linalg.fill ins(%z : f32) outs(%e : tensor<?x1xf32>) -> tensor<?x1xf32>
  %f = tensor.empty(%n) : tensor<?x600xf32>
  %s, %y = scf.for %i = %c0 to %c600 step %c1 iter_args(%sum = %s0, %all = %f) -> (tensor<?x1xf32>, tensor<?x600xf32>) {
    %column = tensor.extract_slice %x[0, %i] [%n, 1] [1, 1] : tensor<?x600xf32> to tensor<?x1xf32>
    %next = linalg.generic {
        indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>],
        iterator_types = ["parallel", "parallel"]
      } ins(%column : tensor<?x1xf32>) outs(%sum : tensor<?x1xf32>) {
    ^bb0(%e0: f32, %e1: f32):
      %v = arith.addf %e1, %e0 : f32
      linalg.yield %v : f32
    } -> tensor<?x1xf32>
    %more = tensor.insert_slice %next into %all[0, %i] [%n, 1] [1, 1] : tensor<?x1xf32> into tensor<?x600xf32>
    scf.yield %next, %more : tensor<?x1xf32>, tensor<?x600xf32>
  }
  bufferization.materialize_in_destination %y in restrict writable %out : (tensor<?x600xf32>, memref<?x600xf32>) -> ()
  func.return
}
