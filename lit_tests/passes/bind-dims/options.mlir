// RUN: xrelay-opt -p 'bind-dims{dims="x:0=4" function=g}' %s | filecheck %s
// RUN: xrelay-opt -p bind-dims %s | filecheck %s --check-prefix=NONE
// RUN: not xrelay-opt -p 'bind-dims{dims="n"}' %s 2>&1 | filecheck %s --check-prefix=DIM
// RUN: not xrelay-opt -p 'bind-dims{dims="n=2","n=3"}' %s 2>&1 | filecheck %s --check-prefix=TWICE
// RUN: not xrelay-opt -p 'bind-dims{shapes="x=2xn"}' %s 2>&1 | filecheck %s --check-prefix=SHAPE

// The function is an option, and without sizes nothing changes.
//
// CHECK:         func.func @g(%x: tensor<4xf32>)
// NONE:          func.func @g(%x: tensor<?xf32>)
// DIM:           pipeline:1:11: error: each of dims must be a dim and its size, like n=3 or x:0=3, but is 'n'
// TWICE:         pipeline:1:11: error: dims has two values for 'n'
// SHAPE:         pipeline:1:11: error: each of shapes must be a parameter and its shape, like x=1x3x?, but is 'x=2xn'
func.func @main() { func.return }
func.func @g(%x: tensor<?xf32>) { func.return }
