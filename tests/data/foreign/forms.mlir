module {
  func.func @a(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
    memref.copy %arg0, %arg1 : memref<4xf32> to memref<4xf32>
    return
  }
}

// -----
module {
  func.func @b(%arg0: memref<4xf32>) -> memref<?xf32> {
    %cast = memref.cast %arg0 : memref<4xf32> to memref<?xf32>
    return %cast : memref<?xf32>
  }
}

// -----
module {
  func.func @c(%arg0: memref<4x8xf32>) {
    %transpose = memref.transpose %arg0 (d0, d1) -> (d1, d0) : memref<4x8xf32> to memref<8x4xf32, strided<[1, 8]>>
    return
  }
}

// -----
module {
  func.func @d(%arg0: memref<4x8xf32>, %arg1: index) {
    memref.prefetch %arg0[%arg1, %arg1], read, locality<3>, data : memref<4x8xf32>
    return
  }
}

// -----
module {
  func.func @e(%arg0: index, %arg1: index, %arg2: index, %arg3: memref<?xf32>) {
    scf.parallel (%arg4) = (%arg0) to (%arg1) step (%arg2) {
      %0 = memref.load %arg3[%arg4] : memref<?xf32>
      memref.store %0, %arg3[%arg4] : memref<?xf32>
      scf.reduce 
    }
    return
  }
}

// -----
module {
  func.func @f(%arg0: index) {
    scf.forall (%arg1, %arg2) in (%arg0, 4) {
    } {mapping = [#gpu.block<x>, #gpu.block<y>]}
    return
  }
  func.func @strided(%n: index, %t: tensor<8xf32>) -> tensor<8xf32> {
    %r = scf.forall (%i) = (2) to (%n) step (3) shared_outs(%o = %t) -> (tensor<8xf32>) {
      scf.forall.in_parallel {
      }
    }
    return %r : tensor<8xf32>
  }
}

// -----
module {
  func.func @g(%arg0: i32) -> i32 {
    %c0_i32 = arith.constant 0 : i32
    %c1_i32 = arith.constant 1 : i32
    %0 = scf.while (%arg1 = %c0_i32) : (i32) -> i32 {
      %1 = arith.cmpi slt, %arg1, %arg0 : i32
      scf.condition(%1) %arg1 : i32
    } do {
    ^bb0(%arg1: i32):
      %1 = arith.addi %arg1, %c1_i32 : i32
      scf.yield %1 : i32
    }
    return %0 : i32
  }
}

// -----
module {
  func.func @g2(%arg0: i1) {
    scf.while : () -> () {
      scf.condition(%arg0)
    } do {
      scf.yield
    }
    return
  }
}

// -----
module {
  func.func @h(%arg0: memref<2x4x8xf32>, %arg1: memref<2x8x4xf32>, %arg2: memref<2x4x4xf32>) {
    linalg.batch_matmul ins(%arg0, %arg1 : memref<2x4x8xf32>, memref<2x8x4xf32>) outs(%arg2 : memref<2x4x4xf32>)
    return
  }
}

// -----
module {
  func.func @i(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.softmax dimension(1) ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>)
    return
  }
}

// -----
module {
  func.func @j(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>, %arg2: memref<4x4xf32>, %arg3: f32) {
    linalg.fill ins(%arg3 : f32) outs(%arg2 : memref<4x4xf32>)
    linalg.matmul ins(%arg0, %arg1 : memref<4x8xf32>, memref<8x4xf32>) outs(%arg2 : memref<4x4xf32>)
    return
  }
}

// -----
#map = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @k(%arg0: memref<4x8xf32>, %arg1: memref<4x8xf32>) {
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4x8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %in : f32
      linalg.yield %0 : f32
    }
    return
  }
}

// -----
module {
  func.func @l(%arg0: memref<4x8xf32>, %arg1: memref<8x4xf32>) {
    linalg.transpose ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<8x4xf32>) permutation = [1, 0] 
    return
  }
}

// -----
module {
  func.func @m(%arg0: memref<4x8xf32>, %arg1: memref<4xf32>) {
    linalg.reduce ins(%arg0 : memref<4x8xf32>) outs(%arg1 : memref<4xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %0 = arith.addf %in, %init : f32
        linalg.yield %0 : f32
      }
    return
  }
}

// -----
module {
  func.func @n(%arg0: memref<4xf32>, %arg1: memref<4x8xf32>) {
    linalg.broadcast ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4x8xf32>) dimensions = [1] 
    return
  }
}

// -----
module {
  func.func @o(%arg0: memref<4xf32>, %arg1: memref<4xf32>) {
    linalg.map { math.exp } ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
    linalg.copy ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
    linalg.add ins(%arg0, %arg0 : memref<4xf32>, memref<4xf32>) outs(%arg1 : memref<4xf32>)
    linalg.exp ins(%arg0 : memref<4xf32>) outs(%arg1 : memref<4xf32>)
    return
  }
}

// -----
module {
  func.func @p(%arg0: memref<1x3x8x8xf32>, %arg1: memref<4x3x3x3xf32>, %arg2: memref<1x4x6x6xf32>) {
    linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg0, %arg1 : memref<1x3x8x8xf32>, memref<4x3x3x3xf32>) outs(%arg2 : memref<1x4x6x6xf32>)
    return
  }
}

// -----
module {
  func.func @q(%arg0: memref<8x8xf32>, %arg1: index) {
    %subview = memref.subview %arg0[%arg1, 0] [4, %arg1] [1, 1] : memref<8x8xf32> to memref<4x?xf32, strided<[8, 1], offset: ?>>
    %expand_shape = memref.expand_shape %arg0 [[0, 1], [2]] output_shape [2, 4, 8] : memref<8x8xf32> into memref<2x4x8xf32>
    %collapse_shape = memref.collapse_shape %arg0 [[0, 1]] : memref<8x8xf32> into memref<64xf32>
    %reinterpret_cast = memref.reinterpret_cast %arg0 to offset: [0], sizes: [%arg1, 4], strides: [8, 1] : memref<8x8xf32> to memref<?x4xf32, strided<[8, 1]>>
    return
  }
}

// -----
module {
  func.func @r(%arg0: index, %arg1: index) {
    %alloc = memref.alloc(%arg0) {alignment = 64 : i64} : memref<?x4xf32>
    %alloca = memref.alloca() : memref<4xf32>
    %alloc_0 = memref.alloc() : memref<64xi8>
    %view = memref.view %alloc_0[%arg1][] : memref<64xi8> to memref<4xf32>
    %0 = memref.realloc %alloca : memref<4xf32> to memref<8xf32>
    memref.dealloc %alloc : memref<?x4xf32>
    return
  }
}

// -----
module {
  func.func @s(%arg0: memref<?xf32>, %arg1: index) {
    affine.for %arg2 = 0 to %arg1 {
      %0 = affine.load %arg0[%arg2] : memref<?xf32>
      affine.store %0, %arg0[%arg2 + 1] : memref<?xf32>
    }
    return
  }
}

// -----
module {
  func.func @t(%arg0: i1, %arg1: memref<4xf32>) -> memref<4xf32> {
    cf.cond_br %arg0, ^bb1(%arg1 : memref<4xf32>), ^bb2
  ^bb1(%0: memref<4xf32>):  // 2 preds: ^bb0, ^bb2
    return %0 : memref<4xf32>
  ^bb2:  // pred: ^bb0
    cf.br ^bb1(%arg1 : memref<4xf32>)
  }
}

// -----
module {
  func.func @u(%arg0: memref<4xf32>, %arg1: index) {
    %0 = bufferization.to_tensor %arg0 : memref<4xf32> to tensor<4xf32>
    %1 = bufferization.to_buffer %0 : tensor<4xf32> to memref<4xf32>
    %2 = bufferization.clone %arg0 : memref<4xf32> to memref<4xf32>
    return
  }
}

// -----
module {
  func.func @v(%arg0: memref<8xf32>, %arg1: index) {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = vector.transfer_read %arg0[%arg1], %cst : memref<8xf32>, vector<4xf32>
    vector.transfer_write %0, %arg0[%arg1] : vector<4xf32>, memref<8xf32>
    %1 = vector.load %arg0[%arg1] : memref<8xf32>, vector<4xf32>
    vector.store %1, %arg0[%arg1] : memref<8xf32>, vector<4xf32>
    return
  }
}

// -----
module {
  func.func @w(%arg0: i1, %arg1: index) -> index {
    %0 = scf.if %arg0 -> (index) {
      scf.yield %arg1 : index
    } else {
      scf.yield %arg1 : index
    }
    %1 = scf.index_switch %arg1 -> index 
    case 1 {
      scf.yield %arg1 : index
    }
    default {
      scf.yield %0 : index
    }
    %2 = scf.execute_region -> index {
      scf.yield %1 : index
    }
    %3 = scf.for %arg2 = %arg1 to %0 step %2 iter_args(%arg3 = %arg1) -> (index) {
      scf.yield %arg3 : index
    }
    return %2 : index
  }
}

// -----
module {
  func.func @x(%arg0: memref<4xf32>) {
    %base_buffer, %offset, %sizes, %strides = memref.extract_strided_metadata %arg0 : memref<4xf32> -> memref<f32>, index, index, index
    %intptr = memref.extract_aligned_pointer_as_index %arg0 : memref<4xf32> -> index
    %cast = memref.cast %arg0 : memref<4xf32> to memref<*xf32>
    %assume_align = memref.assume_alignment %arg0, 16 : memref<4xf32>
    %memspacecast = memref.memory_space_cast %arg0 : memref<4xf32> to memref<4xf32, 1>
    %0 = memref.generic_atomic_rmw %arg0[%offset] : memref<4xf32> {
    ^bb0(%arg1: f32):
      memref.atomic_yield %arg1 : f32
    }
    %alloc = memref.alloc() : memref<2xindex>
    %reshape = memref.reshape %arg0(%alloc) : (memref<4xf32>, memref<2xindex>) -> memref<?x?xf32>
    return
  }
}

// -----
module {
  memref.global "private" constant @g : memref<2xf32> = dense<[1.000000e+00, 2.000000e+00]> {alignment = 64 : i64}
  func.func @y() -> f32 {
    %0 = memref.get_global @g : memref<2xf32>
    %c1 = arith.constant 1 : index
    %1 = memref.load %0[%c1] : memref<2xf32>
    return %1 : f32
  }
}

// -----
#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @a(%arg0: memref<2x4x8xf32>, %arg1: memref<2x4x8xf32>, %arg2: memref<2x4x4xf32>, %arg3: memref<4xf32>, %arg4: memref<4xf32>) {
    linalg.batch_matmul indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : memref<2x4x8xf32>, memref<2x4x8xf32>) outs(%arg2 : memref<2x4x4xf32>)
    linalg.elementwise kind=#linalg.elementwise_kind<exp> ins(%arg3 : memref<4xf32>) outs(%arg4 : memref<4xf32>)
    linalg.map ins(%arg3 : memref<4xf32>) outs(%arg4 : memref<4xf32>)
      (%in: f32, %init: f32) {
        %0 = arith.addf %in, %in : f32
        %1 = arith.addf %0, %in : f32
        linalg.yield %1 : f32
      }
    linalg.map { arith.addf } ins(%arg3, %arg3 : memref<4xf32>, memref<4xf32>) outs(%arg4 : memref<4xf32>)
    return
  }
}


// -----
#set = affine_set<(d0)[s0] : (d0 - 2 >= 0, -d0 + s0 - 1 >= 0)>
#set1 = affine_set<(d0) : (d0 mod 2 == 0)>
module {
  func.func @f(%arg0: memref<16xf32>, %arg1: index, %arg2: f32) -> f32 {
    affine.parallel (%arg3, %arg4) = (0, 1) to (10, symbol(%arg1) * 2) step (1, 2) {
      affine.if #set(%arg3)[%arg1] {
        affine.store %arg2, %arg0[%arg3] : memref<16xf32>
      } else {
        affine.store %arg2, %arg0[%arg4] : memref<16xf32>
      }
    }
    affine.parallel (%arg3) = (max(%arg1, 0)) to (min(%arg1 + 3, 9)) {
      affine.store %arg2, %arg0[%arg3] : memref<16xf32>
    }
    %c1 = arith.constant 1 : index
    %0 = affine.if #set1(%c1) -> memref<16xf32> {
      %alloc = memref.alloc() : memref<16xf32>
      affine.yield %alloc : memref<16xf32>
    } else {
      affine.yield %arg0 : memref<16xf32>
    }
    %1 = affine.parallel (%arg3) = (0) to (9) reduce ("addf") -> (f32) {
      %2 = affine.load %arg0[%arg3] : memref<16xf32>
      affine.yield %2 : f32
    }
    return %1 : f32
  }
}

// -----
module {
  func.func @g(%arg0: memref<16xf32>, %arg1: index, %arg2: i32) {
    gpu.launch blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg1, %arg10 = %arg1, %arg11 = %arg1) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg1, %arg13 = %arg1, %arg14 = %arg1) dynamic_shared_memory_size %arg2 {
      gpu.barrier
      gpu.terminator
    }
    %0 = gpu.launch async blocks(%arg3, %arg4, %arg5) in (%arg9 = %arg1, %arg10 = %arg1, %arg11 = %arg1) threads(%arg6, %arg7, %arg8) in (%arg12 = %arg1, %arg13 = %arg1, %arg14 = %arg1) {
      gpu.terminator
    }
    %token = async.execute {
      async.yield
    }
    %token_0, %bodyResults = async.execute [%token] -> !async.value<memref<16xf32>> {
      async.yield %arg0 : memref<16xf32>
    }
    async.await %token_0 : !async.token
    %token_1, %bodyResults_2 = async.execute [%token] (%bodyResults as %arg3: !async.value<memref<16xf32>>) -> !async.value<memref<16xf32>> {
      async.yield %arg3 : memref<16xf32>
    }
    %1 = async.await %bodyResults_2 : !async.value<memref<16xf32>>
    return
  }
}

// -----
#map = affine_map<(d0)[s0] -> (d0, s0 + 8)>
module {
  func.func @i(%arg0: index, %arg1: index) -> (index, index) {
    %0 = affine.max #map(%arg0)[%arg1]
    %1:2 = affine.delinearize_index %0 into (4, %arg1) : index, index
    %2 = affine.linearize_index disjoint [%1#0, %1#1] by (4, %arg1) : index
    %3 = affine.linearize_index [%1#0, %1#1] by (4, 8) : index
    return %2, %3 : index, index
  }
}

// -----
module {
  func.func @atomic(%arg0: memref<10xf32>, %arg1: f32, %arg2: index) -> f32 {
    %0 = memref.atomic_rmw addf %arg1, %arg0[%arg2] {a} : (f32, memref<10xf32>) -> f32
    return %0 : f32
  }
  func.func @prefetch(%arg0: memref<40x40xi32>, %arg1: index, %arg2: index) {
    affine.for %arg3 = 0 to 9 {
      affine.prefetch %arg0[%arg3, %arg3 + symbol(%arg1) + 5], read, locality<3>, data : memref<40x40xi32>
      affine.prefetch %arg0[%arg3, symbol(%arg1)], write, locality<0>, instr : memref<40x40xi32>
      %0 = affine.load %arg0[%arg3 + symbol(%arg1) * 2, symbol(%arg2) floordiv 3] : memref<40x40xi32>
      affine.store %0, %arg0[%arg3, symbol(%arg1)] {b = 1 : i32} : memref<40x40xi32>
      %1 = affine.vector_load %arg0[%arg3, symbol(%arg1)] : memref<40x40xi32>, vector<8xi32>
      affine.vector_store %1, %arg0[%arg3, (-symbol(%arg1)) mod 8] : memref<40x40xi32>, vector<8xi32>
      %2 = affine.load %arg0[0, 0] : memref<40x40xi32>
    }
    return
  }
}


// -----
module {
  func.func private @ind(memref<4xf32>) -> f32
  func.func @i(%arg0: memref<4xf32>, %arg1: f32, %arg2: f32, %arg3: i32, %arg4: vector<4xf8E5M2>, %arg5: vector<4xf8E8M0FNU>, %arg6: vector<4xf32>) {
    %f = constant @ind : (memref<4xf32>) -> f32
    %0 = call_indirect %f(%arg0) : (memref<4xf32>) -> f32
    %1 = call_indirect %f(%arg0) {a} : (memref<4xf32>) -> f32
    %f_0 = constant {b} @ind : (memref<4xf32>) -> f32
    %2 = arith.remf %arg1, %arg2 : f32
    %3 = arith.remf %arg1, %arg2 fastmath<fast> {z} : f32
    %4 = arith.index_castui %arg3 : i32 to index
    %5 = arith.scaling_extf %arg4, %arg5 : vector<4xf8E5M2>, vector<4xf8E8M0FNU> to vector<4xf32>
    %6 = arith.scaling_truncf %arg6, %arg5 : vector<4xf32>, vector<4xf8E8M0FNU> to vector<4xf8E5M2>
    %7:2 = memref.distinct_objects %arg0, %arg0 : memref<4xf32>, memref<4xf32>
    return
  }
}


// -----
module {
  func.func @dma(%arg0: memref<40x128xf32>, %arg1: memref<2x128xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: index) {
    affine.for %arg5 = 0 to 10 {
      affine.dma_start %arg0[%arg5 + 3, %arg5], %arg1[%arg5 mod 2, 0], %arg2[0], %arg3, %arg4, %arg4 : memref<40x128xf32>, memref<2x128xf32, 1>, memref<1xi32>
      affine.dma_start %arg0[%arg5 + symbol(%arg4), %arg5], %arg1[%arg5 mod 2, 0], %arg2[%arg5], %arg3 : memref<40x128xf32>, memref<2x128xf32, 1>, memref<1xi32>
      affine.dma_wait %arg2[%arg5], %arg3 : memref<1xi32>
    }
    return
  }
}

