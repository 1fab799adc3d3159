module {
  func.func @attention(%arg0: tensor<128x64xf32>, %arg1: tensor<128x64xf32>, %arg2: tensor<128x64xf32>, %arg3: tensor<128x64xf32>) -> tensor<128x64xf32> {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = bufferization.to_buffer %arg2 : tensor<128x64xf32> to memref<128x64xf32>
    %1 = bufferization.to_buffer %arg0 : tensor<128x64xf32> to memref<128x64xf32>
    %2 = bufferization.to_buffer %arg1 : tensor<128x64xf32> to memref<128x64xf32>
    %alloc = memref.alloc() : memref<64x128xf32>
    linalg.transpose ins(%2 : memref<128x64xf32>) outs(%alloc : memref<64x128xf32>) permutation = [1, 0] 
    %alloc_0 = memref.alloc() : memref<128x128xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_0 : memref<128x128xf32>)
    linalg.matmul ins(%1, %alloc : memref<128x64xf32>, memref<64x128xf32>) outs(%alloc_0 : memref<128x128xf32>)
    %alloc_1 = memref.alloc() : memref<128x128xf32>
    linalg.map { math.exp } ins(%alloc_0 : memref<128x128xf32>) outs(%alloc_1 : memref<128x128xf32>)
    %alloc_2 = memref.alloc() : memref<128xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_2 : memref<128xf32>)
    linalg.reduce ins(%alloc_1 : memref<128x128xf32>) outs(%alloc_2 : memref<128xf32>) dimensions = [1] 
      (%in: f32, %init: f32) {
        %4 = arith.addf %in, %init : f32
        linalg.yield %4 : f32
      }
    %alloc_3 = memref.alloc() : memref<128x128xf32>
    linalg.broadcast ins(%alloc_2 : memref<128xf32>) outs(%alloc_3 : memref<128x128xf32>) dimensions = [1] 
    %alloc_4 = memref.alloc() : memref<128x128xf32>
    linalg.map { arith.divf } ins(%alloc_1, %alloc_3 : memref<128x128xf32>, memref<128x128xf32>) outs(%alloc_4 : memref<128x128xf32>)
    %alloc_5 = memref.alloc() : memref<128x64xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_5 : memref<128x64xf32>)
    linalg.matmul ins(%alloc_4, %0 : memref<128x128xf32>, memref<128x64xf32>) outs(%alloc_5 : memref<128x64xf32>)
    %3 = bufferization.to_tensor %alloc_5 : memref<128x64xf32> to tensor<128x64xf32>
    return %3 : tensor<128x64xf32>
  }
}

