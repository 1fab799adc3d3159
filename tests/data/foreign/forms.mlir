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

// -----
module {
  func.func @named(%arg0: memref<?xf32>, %arg1: memref<?xi32>, %arg2: memref<?xi1>, %arg3: memref<?x?xf32>, %arg4: memref<f32>, %arg5: memref<?x?x?xf32>, %arg6: memref<?x?x?x?xf32>, %arg7: memref<?x?x?x?x?xf32>, %arg8: memref<?x?xi8>, %arg9: i32, %arg10: memref<?x?xi32>, %arg11: memref<?x?x?xi8>, %arg12: memref<?x?x?xi32>, %arg13: f64, %arg14: memref<?x?x?x?xi8>, %arg15: memref<?x?x?x?xi32>, %arg16: memref<?x?x?x?x?xi8>, %arg17: memref<?x?x?x?x?xi32>, %arg18: memref<?x?x?x?x?x?xf32>) {
    linalg.abs ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.ceil ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.erf ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.exp ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.floor ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.log ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.negf ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.reciprocal ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.round ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.rsqrt ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.sqrt ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.square ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.tanh ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.copy ins(%arg0 : memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.add ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.div ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.max ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.min ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.mul ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.powf ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.sub ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.div_unsigned ins(%arg1, %arg1 : memref<?xi32>, memref<?xi32>) outs(%arg1 : memref<?xi32>)
    linalg.select ins(%arg2, %arg0, %arg0 : memref<?xi1>, memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.matvec ins(%arg3, %arg0 : memref<?x?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.vecmat ins(%arg0, %arg3 : memref<?xf32>, memref<?x?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.dot ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg4 : memref<f32>)
    linalg.batch_matvec ins(%arg5, %arg3 : memref<?x?x?xf32>, memref<?x?xf32>) outs(%arg3 : memref<?x?xf32>)
    linalg.batch_vecmat ins(%arg3, %arg5 : memref<?x?xf32>, memref<?x?x?xf32>) outs(%arg3 : memref<?x?xf32>)
    linalg.batch_reduce_matmul ins(%arg5, %arg5 : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%arg3 : memref<?x?xf32>)
    linalg.mmt4d ins(%arg6, %arg6 : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.batch_mmt4d ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.quantized_matmul ins(%arg8, %arg8, %arg9, %arg9 : memref<?x?xi8>, memref<?x?xi8>, i32, i32) outs(%arg10 : memref<?x?xi32>)
    linalg.quantized_batch_matmul ins(%arg11, %arg11, %arg9, %arg9 : memref<?x?x?xi8>, memref<?x?x?xi8>, i32, i32) outs(%arg12 : memref<?x?x?xi32>)
    linalg.matmul ins(%arg8, %arg8 : memref<?x?xi8>, memref<?x?xi8>) outs(%arg10 : memref<?x?xi32>)
    linalg.fill_rng_2d ins(%arg13, %arg13, %arg9 : f64, f64, i32) outs(%arg3 : memref<?x?xf32>)
    linalg.conv_1d ins(%arg0, %arg0 : memref<?xf32>, memref<?xf32>) outs(%arg0 : memref<?xf32>)
    linalg.conv_2d ins(%arg3, %arg3 : memref<?x?xf32>, memref<?x?xf32>) outs(%arg3 : memref<?x?xf32>)
    linalg.conv_3d ins(%arg5, %arg5 : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg5 : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.conv_1d_nwc_wcf {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg5 : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.conv_2d_nchw_fchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg6 : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.conv_2d_nchw_fchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg14, %arg14, %arg9, %arg9 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.conv_2d_ngchw_fgchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.conv_2d_ngchw_gfchw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.conv_2d_ngchw_gfchw_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg16, %arg16, %arg9, %arg9 : memref<?x?x?x?x?xi8>, memref<?x?x?x?x?xi8>, i32, i32) outs(%arg17 : memref<?x?x?x?x?xi32>)
    linalg.conv_2d_nhwc_fhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg6 : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.conv_2d_nhwc_fhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg14, %arg14, %arg9, %arg9 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg6 : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.conv_2d_nhwc_hwcf_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg14, %arg14, %arg9, %arg9 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.conv_2d_nhwgc_gfhwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.conv_2d_nhwgc_gfhwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg16, %arg16, %arg9, %arg9 : memref<?x?x?x?x?xi8>, memref<?x?x?x?x?xi8>, i32, i32) outs(%arg17 : memref<?x?x?x?x?xi32>)
    linalg.conv_3d_ncdhw_fcdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.conv_3d_ndhwc_dhwcf {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.conv_3d_ndhwc_dhwcf_q {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg16, %arg16, %arg9, %arg9 : memref<?x?x?x?x?xi8>, memref<?x?x?x?x?xi8>, i32, i32) outs(%arg17 : memref<?x?x?x?x?xi32>)
    linalg.depthwise_conv_1d_ncw_cw {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg3 : memref<?x?x?xf32>, memref<?x?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg3 : memref<?x?x?xf32>, memref<?x?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.depthwise_conv_1d_nwc_wcm {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg5 : memref<?x?x?xf32>, memref<?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.depthwise_conv_2d_nchw_chw {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg5 : memref<?x?x?x?xf32>, memref<?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.depthwise_conv_2d_nhwc_hwc {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg5 : memref<?x?x?x?xf32>, memref<?x?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.depthwise_conv_2d_nhwc_hwc_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg14, %arg11, %arg9, %arg9 : memref<?x?x?x?xi8>, memref<?x?x?xi8>, i32, i32) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.depthwise_conv_2d_nhwc_hwcm {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg6 : memref<?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.depthwise_conv_2d_nhwc_hwcm_q {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg14, %arg14, %arg9, %arg9 : memref<?x?x?x?xi8>, memref<?x?x?x?xi8>, i32, i32) outs(%arg17 : memref<?x?x?x?x?xi32>)
    linalg.depthwise_conv_3d_ncdhw_cdhw {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg6 : memref<?x?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.depthwise_conv_3d_ndhwc_dhwc {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg6 : memref<?x?x?x?x?xf32>, memref<?x?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.depthwise_conv_3d_ndhwc_dhwcm {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg7 : memref<?x?x?x?x?xf32>, memref<?x?x?x?x?xf32>) outs(%arg18 : memref<?x?x?x?x?x?xf32>)
    linalg.pooling_nchw_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg3 : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg3 : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.pooling_ncw_max {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg0 : memref<?x?x?xf32>, memref<?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.pooling_ncw_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg0 : memref<?x?x?xf32>, memref<?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.pooling_ndhwc_max {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg5 : memref<?x?x?x?x?xf32>, memref<?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.pooling_ndhwc_min {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg5 : memref<?x?x?x?x?xf32>, memref<?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.pooling_ndhwc_sum {dilations = dense<1> : tensor<3xi64>, strides = dense<2> : tensor<3xi64>} ins(%arg7, %arg5 : memref<?x?x?x?x?xf32>, memref<?x?x?xf32>) outs(%arg7 : memref<?x?x?x?x?xf32>)
    linalg.pooling_nhwc_max {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg3 : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.pooling_nhwc_max_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg15, %arg10 : memref<?x?x?x?xi32>, memref<?x?xi32>) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_min {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg3 : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.pooling_nhwc_min_unsigned {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg15, %arg10 : memref<?x?x?x?xi32>, memref<?x?xi32>) outs(%arg15 : memref<?x?x?x?xi32>)
    linalg.pooling_nhwc_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%arg6, %arg3 : memref<?x?x?x?xf32>, memref<?x?xf32>) outs(%arg6 : memref<?x?x?x?xf32>)
    linalg.pooling_nwc_max {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg0 : memref<?x?x?xf32>, memref<?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.pooling_nwc_max_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg12, %arg1 : memref<?x?x?xi32>, memref<?xi32>) outs(%arg12 : memref<?x?x?xi32>)
    linalg.pooling_nwc_min {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg0 : memref<?x?x?xf32>, memref<?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    linalg.pooling_nwc_min_unsigned {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg12, %arg1 : memref<?x?x?xi32>, memref<?xi32>) outs(%arg12 : memref<?x?x?xi32>)
    linalg.pooling_nwc_sum {dilations = dense<1> : tensor<1xi64>, strides = dense<2> : tensor<1xi64>} ins(%arg5, %arg0 : memref<?x?x?xf32>, memref<?xf32>) outs(%arg5 : memref<?x?x?xf32>)
    return
  }
}

// -----
module {
  func.func @elements(%arg0: vector<4xi8>, %arg1: vector<4xf32>, %arg2: tensor<4xindex>) {
    %0 = arith.extsi %arg0 : vector<4xi8> to vector<4xi32>
    %1 = arith.extui %arg0 : vector<4xi8> to vector<4xi32>
    %2 = arith.trunci %1 : vector<4xi32> to vector<4xi16>
    %3 = arith.index_cast %arg2 : tensor<4xindex> to tensor<4xi32>
    %4 = arith.fptosi %arg1 : vector<4xf32> to vector<4xi32>
    %5 = arith.fptoui %arg1 : vector<4xf32> to vector<4xi32>
    %6 = arith.sitofp %4 : vector<4xi32> to vector<4xf32>
    %7 = arith.uitofp %5 : vector<4xi32> to vector<4xf32>
    %8 = arith.index_castui %arg2 : tensor<4xindex> to tensor<4xi32>
    return
  }
  func.func @widened(%arg0: memref<4x4xi8>, %arg1: memref<4x4xi32>, %arg2: memref<4x4xf16>, %arg3: memref<4x4xf32>, %arg4: memref<?x?x?x?xf16>, %arg5: memref<?x?x?x?xf32>) {
    linalg.matmul ins(%arg0, %arg0 : memref<4x4xi8>, memref<4x4xi8>) outs(%arg1 : memref<4x4xi32>)
    linalg.matmul ins(%arg2, %arg2 : memref<4x4xf16>, memref<4x4xf16>) outs(%arg3 : memref<4x4xf32>)
    linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>} ins(%arg4, %arg4 : memref<?x?x?x?xf16>, memref<?x?x?x?xf16>) outs(%arg5 : memref<?x?x?x?xf32>)
    return
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module {
  func.func @contract(%arg0: memref<?x?xf32>, %arg1: memref<?x?xf32>, %arg2: memref<?x?xf32>, %arg3: memref<4x8xf32>) {
    linalg.contract indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : memref<?x?xf32>, memref<?x?xf32>) outs(%arg2 : memref<?x?xf32>)
    linalg.generic {doc = "numbers", indexing_maps = [#map3], iterator_types = ["parallel", "parallel"], library_call = "number"} outs(%arg3 : memref<4x8xf32>) attrs =  {own = 1 : i32} {
    ^bb0(%out: f32):
      %0 = linalg.index 0 : index
      %1 = arith.index_cast %0 : index to i32
      %2 = arith.sitofp %1 : i32 to f32
      linalg.yield %2 : f32
    }
    return
  }
}

// -----
module {
  func.func @pack(%arg0: tensor<128x256xf32>, %arg1: tensor<16x8x8x32xf32>, %arg2: f32, %arg3: tensor<120x250xf32>, %arg4: index, %arg5: tensor<?x?xf32>, %arg6: tensor<?x?x?x2xf32>) {
    %pack = linalg.pack %arg0 outer_dims_perm = [0, 1] inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %arg1 : tensor<128x256xf32> -> tensor<16x8x8x32xf32>
    %0 = tensor.empty() : tensor<15x8x8x32xf32>
    %pack_0 = linalg.pack %arg3 padding_value(%arg2 : f32) inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %0 : tensor<120x250xf32> -> tensor<15x8x8x32xf32>
    %unpack = linalg.unpack %arg1 inner_dims_pos = [0, 1] inner_tiles = [8, 32] into %arg0 : tensor<16x8x8x32xf32> -> tensor<128x256xf32>
    %pack_1 = linalg.pack %arg5 inner_dims_pos = [1, 0] inner_tiles = [%arg4, 2] into %arg6 {tag} : tensor<?x?xf32> -> tensor<?x?x?x2xf32>
    return
  }
}

// -----
module {
  func.func @winograd(%arg0: tensor<2x3x3x5xf32>, %arg1: tensor<2x6x6x5xf32>, %arg2: tensor<6x6x1x1x2x2xf32>, %arg3: tensor<6x6x5x2xf32>, %arg4: tensor<6x6x1x1x2x5xf32>, %arg5: tensor<2x4x4x2xf32>) {
    %0 = linalg.winograd_filter_transform fmr(F_4_3) ins(%arg0 : tensor<2x3x3x5xf32>) outs(%arg3 : tensor<6x6x5x2xf32>) -> tensor<6x6x5x2xf32>
    %1 = linalg.winograd_input_transform fmr(F_4_3) ins(%arg1 : tensor<2x6x6x5xf32>) outs(%arg4 : tensor<6x6x1x1x2x5xf32>) -> tensor<6x6x1x1x2x5xf32>
    %2 = linalg.winograd_output_transform fmr(F_4_3) ins(%arg2 : tensor<6x6x1x1x2x2xf32>) outs(%arg5 : tensor<2x4x4x2xf32>) -> tensor<2x4x4x2xf32>
    return
  }
}

// -----
#map = affine_map<(d0)[s0] -> (d0 + 1, s0)>
#map1 = affine_map<(d0)[s0] -> (d0 * 2 + s0)>
#map2 = affine_map<(d0) -> (0, d0)>
#map3 = affine_map<(d0)[s0] -> (8, d0 + s0)>
module {
  func.func private @callee(memref<4xf32>, index) -> (memref<4xf32>, index)
  func.func @rest(%arg0: memref<4xf32>, %arg1: memref<4xf32, 1>, %arg2: memref<1xi32>, %arg3: index, %arg4: memref<*xf32>, %arg5: i1, %arg6: i32) -> index attributes {own} {
    %dim = memref.dim %arg0, %arg3 : memref<4xf32>
    %0 = memref.rank %arg4 : memref<*xf32>
    memref.dma_start %arg0[%arg3], %arg1[%arg3], %arg3, %arg2[%arg3] : memref<4xf32>, memref<4xf32, 1>, memref<1xi32>
    memref.dma_start %arg0[%arg3], %arg1[%arg3], %arg3, %arg2[%arg3], %arg3, %arg3 : memref<4xf32>, memref<4xf32, 1>, memref<1xi32>
    memref.dma_wait %arg2[%arg3], %arg3 : memref<1xi32>
    memref.alloca_scope  {
      %alloca = memref.alloca() : memref<4xf32>
    }
    %1 = memref.alloca_scope  -> (index) {
      memref.alloca_scope.return %arg3 : index
    }
    %2:2 = call @callee(%arg0, %arg3) : (memref<4xf32>, index) -> (memref<4xf32>, index)
    %3 = memref.load %arg0[%arg3] {nontemporal = true} : memref<4xf32>
    memref.store %3, %arg0[%arg3] {nontemporal = true} : memref<4xf32>
    %4 = scf.parallel (%arg7) = (%arg3) to (%dim) step (%0) init (%3) -> f32 {
      %9 = memref.load %arg0[%arg7] : memref<4xf32>
      scf.reduce(%9 : f32) {
      ^bb0(%arg8: f32, %arg9: f32):
        %10 = arith.addf %arg8, %arg9 : f32
        scf.reduce.return %10 : f32
      }
    }
    %5 = affine.min #map(%arg3)[%dim]
    %6 = affine.apply #map1(%arg3)[%dim]
    %7 = affine.for %arg7 = max #map2(%arg3) to min #map3(%arg3)[%dim] step 2 iter_args(%arg8 = %arg3) -> (index) {
      affine.yield %arg8 : index
    }
    cf.assert %arg5, "it holds"
    cf.switch %arg6 : i32, [
      default: ^bb1(%arg3 : index),
      1: ^bb1(%5 : index),
      2: ^bb2
    ]
  ^bb1(%8: index):  // 2 preds: ^bb0, ^bb0
    cf.br ^bb2
  ^bb2:  // 2 preds: ^bb0, ^bb1
    return %arg3 : index
  }
}

// -----
module {
  func.func @arith(%arg0: f32, %arg1: f32, %arg2: i32, %arg3: i32, %arg4: vector<4xi1>, %arg5: vector<4xi32>, %arg6: f64) {
    %sum, %overflow = arith.addui_extended %arg2, %arg3 : i32, i1
    %low, %high = arith.mulsi_extended %arg2, %arg3 : i32
    %low_0, %high_1 = arith.mului_extended %arg2, %arg3 : i32
    %0 = arith.andi %arg2, %arg3 : i32
    %1 = arith.bitcast %arg2 : i32 to f32
    %2 = arith.ceildivsi %arg2, %arg3 : i32
    %3 = arith.ceildivui %arg2, %arg3 : i32
    %4 = arith.cmpf olt, %arg0, %arg1 : f32
    %5 = arith.cmpf une, %arg0, %arg1 fastmath<nnan,ninf> : f32
    %6 = arith.divf %arg0, %arg1 : f32
    %7 = arith.divsi %arg2, %arg3 : i32
    %8 = arith.divui %arg2, %arg3 : i32
    %9 = arith.extf %arg0 : f32 to f64
    %10 = arith.extsi %arg2 : i32 to i64
    %11 = arith.extui %arg2 : i32 to i64
    %12 = arith.floordivsi %arg2, %arg3 : i32
    %13 = arith.fptosi %arg0 : f32 to i32
    %14 = arith.fptoui %arg0 : f32 to i32
    %15 = arith.index_cast %arg2 : i32 to index
    %16 = arith.maximumf %arg0, %arg1 : f32
    %17 = arith.maxnumf %arg0, %arg1 : f32
    %18 = arith.maxsi %arg2, %arg3 : i32
    %19 = arith.maxui %arg2, %arg3 : i32
    %20 = arith.minimumf %arg0, %arg1 : f32
    %21 = arith.minnumf %arg0, %arg1 : f32
    %22 = arith.minsi %arg2, %arg3 : i32
    %23 = arith.minui %arg2, %arg3 : i32
    %24 = arith.muli %arg2, %arg3 overflow<nsw> : i32
    %25 = arith.negf %arg0 : f32
    %26 = arith.ori %arg2, %arg3 : i32
    %27 = arith.remsi %arg2, %arg3 : i32
    %28 = arith.remui %arg2, %arg3 : i32
    %29 = arith.select %arg4, %arg5, %arg5 : vector<4xi1>, vector<4xi32>
    %30 = arith.select %4, %arg0, %arg1 : f32
    %31 = arith.shli %arg2, %arg3 overflow<nsw, nuw> : i32
    %32 = arith.shrsi %arg2, %arg3 : i32
    %33 = arith.shrui %arg2, %arg3 : i32
    %34 = arith.sitofp %arg2 : i32 to f32
    %35 = arith.subf %arg0, %arg1 fastmath<contract> : f32
    %36 = arith.subi %arg2, %arg3 : i32
    %37 = arith.truncf %arg6 : f64 to f32
    %38 = arith.trunci %10 : i64 to i32
    %39 = arith.uitofp %arg2 : i32 to f32
    %40 = arith.xori %arg2, %arg3 : i32
    %42 = arith.trunci %10 overflow<nsw> : i64 to i32
    %cst = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
    %true = arith.constant true
    %cst_2 = arith.constant {own} -1.500000e+00 : f64
    return
  }
}

// -----
module {
  func.func @exact(%arg0: i32, %arg1: i32, %arg2: vector<4xi32>) {
    %0 = arith.divsi %arg0, %arg1 exact : i32
    %1 = arith.divui %arg0, %arg1 exact : i32
    %2 = arith.shrsi %arg0, %arg1 exact : i32
    %3 = arith.shrui %arg2, %arg2 exact {x = 1 : i32} : vector<4xi32>
    %4 = arith.divsi %arg0, %arg1 : i32
    return
  }
}

// -----
module {
  func.func @rounding(%arg0: f32, %arg1: vector<4xf32>, %arg2: f8E8M0FNU, %arg3: f4E2M1FN) {
    %0 = arith.truncf %arg0 to_nearest_even : f32 to f16
    %1 = arith.truncf %arg1 downward fastmath<fast> : vector<4xf32> to vector<4xbf16>
    %2 = arith.truncf %arg0 fastmath<nnan,ninf> : f32 to f16
    %3 = arith.truncf %arg0 upward : f32 to f16
    %4 = arith.truncf %arg0 toward_zero : f32 to f16
    %5 = arith.truncf %arg0 to_nearest_away {x} : f32 to f16
    %6 = arith.extf %arg0 fastmath<nnan> : f32 to f64
    %7 = arith.extf %arg0 : f32 to f64
    %8 = arith.scaling_truncf %arg0, %arg2 to_nearest_even fastmath<contract> : f32, f8E8M0FNU to f4E2M1FN
    %9 = arith.scaling_extf %arg3, %arg2 fastmath<contract> : f4E2M1FN, f8E8M0FNU to f32
    return
  }
}

// -----
module {
  func.func private @callee(memref<4xf32> {llvm.nocapture}, f32) -> (f32 {llvm.noundef}) attributes {no_inline}
  func.func @calls(%arg0: memref<4xf32> {llvm.align = 64 : i64}, %arg1: f32, %arg2: i1) -> (f32 {llvm.noundef}) attributes {no_inline} {
    %f = constant @callee : (memref<4xf32>, f32) -> f32
    %0 = call @callee(%arg0, %arg1) {no_inline} : (memref<4xf32>, f32) -> f32
    %1 = call @callee(%arg0, %arg1) {arg_attrs = [{llvm.nocapture}, {}], res_attrs = [{llvm.noundef}]} : (memref<4xf32>, f32) -> f32
    %2 = call_indirect %f(%arg0, %arg1) {arg_attrs = [{llvm.nocapture}, {}], res_attrs = [{llvm.noundef}]} : (memref<4xf32>, f32) -> f32
    cf.cond_br %arg2 weights([90, 10]), ^bb1, ^bb1
  ^bb1:  // 2 preds: ^bb0, ^bb0
    return %0 : f32
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @cast(%arg0: memref<4x8xi8>, %arg1: memref<8x4xi8>, %arg2: memref<4x4xi32>, %arg3: memref<4x4xf32>, %arg4: memref<2x4x8xf16>, %arg5: memref<2x8x4xf16>, %arg6: memref<2x4x4xf32>) {
    linalg.matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x4xi8>) outs(%arg2 : memref<4x4xi32>)
    linalg.matmul {cast = #linalg.type_fn<cast_signed>} ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x4xi8>) outs(%arg2 : memref<4x4xi32>)
    linalg.batch_matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg4, %arg5 : memref<2x4x8xf16>, memref<2x8x4xf16>) outs(%arg6 : memref<2x4x4xf32>)
    linalg.batch_reduce_matmul {cast = #linalg.type_fn<cast_unsigned>} ins(%arg4, %arg5 : memref<2x4x8xf16>, memref<2x8x4xf16>) outs(%arg3 : memref<4x4xf32>)
    linalg.contract indexing_maps = [#map, #map1, #map2] {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0, %arg1 : memref<4x8xi8>, memref<8x4xi8>) outs(%arg2 : memref<4x4xi32>)
    linalg.copy {cast = #linalg.type_fn<cast_unsigned>} ins(%arg0 : memref<4x8xi8>) outs(%arg0 : memref<4x8xi8>)
    return
  }
}

// -----
module {
  func.func @unpack(%arg0: tensor<16x8x8x32xf32>, %arg1: tensor<256x128xf32>) -> tensor<256x128xf32> {
    %unpack = linalg.unpack %arg0 outer_dims_perm = [1, 0] inner_dims_pos = [1, 0] inner_tiles = [8, 32] into %arg1 : tensor<16x8x8x32xf32> -> tensor<256x128xf32>
    return %unpack : tensor<256x128xf32>
  }
}

// -----
module {
  func.func @aligned(%arg0: index, %arg1: memref<?xf32>, %arg2: index) {
    %alloca = memref.alloca() {alignment = 32 : i64} : memref<4xf32>
    %0 = memref.load %arg1[%arg2] {alignment = 8 : i64, nontemporal = true} : memref<?xf32>
    memref.store %0, %arg1[%arg2] {alignment = 8 : i64} : memref<?xf32>
    %alloc = memref.alloc(%arg0) : memref<?xf32>
    %1 = memref.realloc %alloc(%arg0) {alignment = 64 : i64} : memref<?xf32> to memref<?xf32>
    return
  }
}

// -----
module {
  func.func @loops(%arg0: i32, %arg1: i32, %arg2: i32, %arg3: f32) -> f32 {
    %0 = scf.for unsigned %arg4 = %arg0 to %arg1 step %arg2 iter_args(%arg5 = %arg3) -> (f32)  : i32 {
      %2 = arith.addf %arg5, %arg5 : f32
      scf.yield %2 : f32
    }
    scf.execute_region no_inline {
      scf.yield
    }
    %1 = scf.execute_region -> f32 no_inline {
      scf.yield %0 : f32
    }
    return %1 : f32
  }
}

// -----
#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
module {
  func.func @transposed(%arg0: memref<4x8xf32>, %arg1: memref<5x8xf32>, %arg2: memref<4x5xf32>, %arg3: tensor<4x8xi8>, %arg4: tensor<5x8xi8>, %arg5: tensor<4x5xf32>) -> tensor<4x5xf32> {
    linalg.matmul indexing_maps = [#map, #map1, #map2] ins(%arg0, %arg1 : memref<4x8xf32>, memref<5x8xf32>) outs(%arg2 : memref<4x5xf32>)
    %0 = linalg.matmul indexing_maps = [#map, #map1, #map2] {cast = #linalg.type_fn<cast_unsigned>, x = 1 : i64} ins(%arg3, %arg4 : tensor<4x8xi8>, tensor<5x8xi8>) outs(%arg5 : tensor<4x5xf32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
}

// -----

#columns = affine_map<(d0, d1) -> (d1, d0)>
#same = affine_map<(d0, d1) -> (d0, d1)>
func.func @elementwise_of_columns(%a: memref<4x8xf32>, %b: memref<8x4xf32>) {
  linalg.elementwise kind = #linalg.elementwise_kind<exp> indexing_maps = [#columns, #same] ins(%a : memref<4x8xf32>) outs(%b : memref<8x4xf32>)
  return
}
