#map = affine_map<(d0, d1, d2) -> (d0, d2)>
#map1 = affine_map<(d0, d1, d2) -> (d1, d2)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
#map4 = affine_map<(d0, d1) -> (d0)>
module {
  func.func @main(%arg0: memref<8x64xf32>, %arg1: memref<128x64xf32>, %arg2: memref<32x128xf32>) -> memref<8x32xf32> {
    %cst = arith.constant 0xFF800000 : f32
    %cst_0 = arith.constant 0.000000e+00 : f32
    %alloc = memref.alloc() {alignment = 64 : i64} : memref<8x128xf32>
    linalg.fill ins(%cst_0 : f32) outs(%alloc : memref<8x128xf32>)
    linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : memref<8x64xf32>, memref<128x64xf32>) outs(%alloc : memref<8x128xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.mulf %in, %in_11 fastmath<contract> : f32
      %1 = arith.addf %out, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    }
    %alloc_1 = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_1 : memref<8xf32>)
    linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%alloc : memref<8x128xf32>) outs(%alloc_1 : memref<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %out fastmath<nsz> : f32
      linalg.yield %0 : f32
    }
    %alloc_2 = memref.alloc() {alignment = 64 : i64} : memref<8x128xf32>
    linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc, %alloc_1 : memref<8x128xf32>, memref<8xf32>) outs(%alloc_2 : memref<8x128xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.subf %in, %in_11 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    }
    %alloc_3 = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    linalg.fill ins(%cst_0 : f32) outs(%alloc_3 : memref<8xf32>)
    linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%alloc_2 : memref<8x128xf32>) outs(%alloc_3 : memref<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out fastmath<reassoc> : f32
      linalg.yield %0 : f32
    }
    %alloc_4 = memref.alloc() {alignment = 64 : i64} : memref<8x128xf32>
    linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_2, %alloc_3 : memref<8x128xf32>, memref<8xf32>) outs(%alloc_4 : memref<8x128xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.divf %in, %in_11 : f32
      linalg.yield %0 : f32
    }
    %alloc_5 = memref.alloc() {alignment = 64 : i64} : memref<8x128xf32>
    linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc, %alloc_4 : memref<8x128xf32>, memref<8x128xf32>) outs(%alloc_5 : memref<8x128xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.addf %in, %in_11 : f32
      linalg.yield %0 : f32
    }
    %alloc_6 = memref.alloc() {alignment = 64 : i64} : memref<8x32xf32>
    linalg.fill ins(%cst_0 : f32) outs(%alloc_6 : memref<8x32xf32>)
    linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%alloc_5, %arg2 : memref<8x128xf32>, memref<32x128xf32>) outs(%alloc_6 : memref<8x32xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.mulf %in, %in_11 fastmath<contract> : f32
      %1 = arith.addf %out, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    }
    %alloc_7 = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    linalg.fill ins(%cst : f32) outs(%alloc_7 : memref<8xf32>)
    linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%alloc_6 : memref<8x32xf32>) outs(%alloc_7 : memref<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %in, %out fastmath<nsz> : f32
      linalg.yield %0 : f32
    }
    %alloc_8 = memref.alloc() {alignment = 64 : i64} : memref<8x32xf32>
    linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_6, %alloc_7 : memref<8x32xf32>, memref<8xf32>) outs(%alloc_8 : memref<8x32xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.subf %in, %in_11 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    }
    %alloc_9 = memref.alloc() {alignment = 64 : i64} : memref<8xf32>
    linalg.fill ins(%cst_0 : f32) outs(%alloc_9 : memref<8xf32>)
    linalg.generic {indexing_maps = [#map3, #map4], iterator_types = ["parallel", "reduction"]} ins(%alloc_8 : memref<8x32xf32>) outs(%alloc_9 : memref<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out fastmath<reassoc> : f32
      linalg.yield %0 : f32
    }
    %alloc_10 = memref.alloc() {alignment = 64 : i64} : memref<8x32xf32>
    linalg.generic {indexing_maps = [#map3, #map4, #map3], iterator_types = ["parallel", "parallel"]} ins(%alloc_8, %alloc_9 : memref<8x32xf32>, memref<8xf32>) outs(%alloc_10 : memref<8x32xf32>) {
    ^bb0(%in: f32, %in_11: f32, %out: f32):
      %0 = arith.divf %in, %in_11 : f32
      linalg.yield %0 : f32
    }
    memref.dealloc %alloc : memref<8x128xf32>
    memref.dealloc %alloc_1 : memref<8xf32>
    memref.dealloc %alloc_2 : memref<8x128xf32>
    memref.dealloc %alloc_3 : memref<8xf32>
    memref.dealloc %alloc_4 : memref<8x128xf32>
    memref.dealloc %alloc_5 : memref<8x128xf32>
    memref.dealloc %alloc_6 : memref<8x32xf32>
    memref.dealloc %alloc_7 : memref<8xf32>
    memref.dealloc %alloc_8 : memref<8x32xf32>
    memref.dealloc %alloc_9 : memref<8xf32>
    return %alloc_10 : memref<8x32xf32>
  }
}

