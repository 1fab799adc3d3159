builtin.module {
  func.func @smooth(%in: memref<72x72xf64>, %out: memref<72x72xf64>) {
    %a1 = memref.alloc() : memref<66x68xf64, strided<[68, 1], offset: 70>>
    %b1 = memref.alloc() : memref<66x66xf64, strided<[66, 1], offset: 67>>
    %out_storeview = memref.subview %out[4, 4] [64, 64] [1, 1] : memref<72x72xf64> to memref<64x64xf64, strided<[72, 1], offset: 292>>
    %in_loadview = memref.subview %in[4, 4] [68, 68] [1, 1] : memref<72x72xf64> to memref<68x68xf64, strided<[72, 1], offset: 292>>
    %0 = arith.constant -1 : index
    %1 = arith.constant -2 : index
    %2 = arith.constant 1 : index
    %3 = arith.constant 1 : index
    %4 = arith.constant 65 : index
    %5 = arith.constant 66 : index
    "scf.parallel"(%0, %1, %4, %5, %2, %3) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
    ^bb0(%6: index, %7: index):
      %l = arith.constant -1 : index
      %l_1 = arith.addi %6, %l : index
      %l_2 = memref.load %in_loadview[%l_1, %7] : memref<68x68xf64, strided<[72, 1], offset: 292>>
      %r = arith.constant 1 : index
      %r_1 = arith.addi %6, %r : index
      %r_2 = memref.load %in_loadview[%r_1, %7] : memref<68x68xf64, strided<[72, 1], offset: 292>>
      %s = arith.addf %l_2, %r_2 : f64
      memref.store %s, %a1[%6, %7] : memref<66x68xf64, strided<[68, 1], offset: 70>>
      scf.reduce
    }) : (index, index, index, index, index, index) -> ()
    %8 = arith.constant -1 : index
    %9 = arith.constant -1 : index
    %10 = arith.constant 1 : index
    %11 = arith.constant 1 : index
    %12 = arith.constant 65 : index
    %13 = arith.constant 65 : index
    "scf.parallel"(%8, %9, %12, %13, %10, %11) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
    ^bb0(%14: index, %15: index):
      %l_3 = arith.constant -1 : index
      %l_4 = arith.addi %15, %l_3 : index
      %l_5 = memref.load %a1[%14, %l_4] : memref<66x68xf64, strided<[68, 1], offset: 70>>
      %r_3 = arith.constant 1 : index
      %r_4 = arith.addi %15, %r_3 : index
      %r_5 = memref.load %a1[%14, %r_4] : memref<66x68xf64, strided<[68, 1], offset: 70>>
      %s_1 = arith.mulf %l_5, %r_5 : f64
      memref.store %s_1, %b1[%14, %15] : memref<66x66xf64, strided<[66, 1], offset: 67>>
      scf.reduce
    }) : (index, index, index, index, index, index) -> ()
    %16 = arith.constant 0 : index
    %17 = arith.constant 0 : index
    %18 = arith.constant 1 : index
    %19 = arith.constant 1 : index
    %20 = arith.constant 64 : index
    %21 = arith.constant 64 : index
    "scf.parallel"(%16, %17, %20, %21, %18, %19) <{operandSegmentSizes = array<i32: 2, 2, 2, 0>}> ({
    ^bb0(%22: index, %23: index):
      %l_6 = arith.constant -1 : index
      %l_7 = arith.addi %22, %l_6 : index
      %l_8 = arith.constant -1 : index
      %l_9 = arith.addi %23, %l_8 : index
      %l_10 = memref.load %b1[%l_7, %l_9] : memref<66x66xf64, strided<[66, 1], offset: 67>>
      %r_6 = arith.constant 1 : index
      %r_7 = arith.addi %22, %r_6 : index
      %r_8 = arith.constant 1 : index
      %r_9 = arith.addi %23, %r_8 : index
      %r_10 = memref.load %b1[%r_7, %r_9] : memref<66x66xf64, strided<[66, 1], offset: 67>>
      %s_2 = arith.addf %l_10, %r_10 : f64
      memref.store %s_2, %out_storeview[%22, %23] : memref<64x64xf64, strided<[72, 1], offset: 292>>
      scf.reduce
    }) : (index, index, index, index, index, index) -> ()
    memref.dealloc %b1 : memref<66x66xf64, strided<[66, 1], offset: 67>>
    memref.dealloc %a1 : memref<66x68xf64, strided<[68, 1], offset: 70>>
    func.return
  }
}

