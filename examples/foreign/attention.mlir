module {
  func.func @attention(%arg0: memref<?x64xf32>, %arg1: memref<?x64xf32>, %arg2: memref<?x64xf32>, %arg3: memref<?x64xf32>) -> memref<?x64xf32> {
    %c0 = arith.constant 0 : index
    %cst = arith.constant 0.000000e+00 : f32
    %dim = memref.dim %arg0, %c0 : memref<?x64xf32>
    %dim_0 = memref.dim %arg1, %c0 : memref<?x64xf32>
    %alloc = memref.alloc(%dim_0) {alignment = 64 : i64} : memref<64x?xf32>
    linalg.transpose ins(%arg1 : memref<?x64xf32>) outs(%alloc : memref<64x?xf32>) permutation = [1, 0] 
    %alloc_1 = memref.alloc(%dim, %dim_0) {alignment = 64 : i64} : memref<?x?xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_1 : memref<?x?xf32>)
    linalg.matmul ins(%arg0, %alloc : memref<?x64xf32>, memref<64x?xf32>) outs(%alloc_1 : memref<?x?xf32>)
    %alloc_2 = memref.alloc(%dim, %dim_0) {alignment = 64 : i64} : memref<?x?xf32>
    linalg.exp ins(%alloc_1 : memref<?x?xf32>) outs(%alloc_2 : memref<?x?xf32>)
    %alloc_3 = memref.alloc(%dim) {alignment = 64 : i64} : memref<?xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_3 : memref<?xf32>)
    linalg.reduce ins(%alloc_2 : memref<?x?xf32>) outs(%alloc_3 : memref<?xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %1 = arith.addf %in, %init : f32
        linalg.yield %1 : f32
      }
    %alloc_4 = memref.alloc(%dim, %dim_0) {alignment = 64 : i64} : memref<?x?xf32>
    linalg.broadcast ins(%alloc_3 : memref<?xf32>) outs(%alloc_4 : memref<?x?xf32>) dimensions = [1] 
    %alloc_5 = memref.alloc(%dim, %dim_0) {alignment = 64 : i64} : memref<?x?xf32>
    linalg.div ins(%alloc_2, %alloc_4 : memref<?x?xf32>, memref<?x?xf32>) outs(%alloc_5 : memref<?x?xf32>)
    linalg.fill ins(%cst : f32) outs(%arg3 : memref<?x64xf32>)
    linalg.matmul ins(%alloc_5, %arg2 : memref<?x?xf32>, memref<?x64xf32>) outs(%arg3 : memref<?x64xf32>)
    %0 = bufferization.clone %arg3 : memref<?x64xf32> to memref<?x64xf32>
    memref.dealloc %alloc : memref<64x?xf32>
    memref.dealloc %alloc_1 : memref<?x?xf32>
    memref.dealloc %alloc_2 : memref<?x?xf32>
    memref.dealloc %alloc_3 : memref<?xf32>
    memref.dealloc %alloc_4 : memref<?x?xf32>
    memref.dealloc %alloc_5 : memref<?x?xf32>
    return %0 : memref<?x64xf32>
  }
}

