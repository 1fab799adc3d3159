// RUN: xrelay-opt -p 'vm{memory=none}' -t memory-plan-svg --plan-dim n=3 %s | filecheck %s --check-prefix=SVG
// RUN: xrelay-opt -p 'vm{memory=none}' -t memory-plan-html --plan-dim n=3 %s | filecheck %s --check-prefix=HTML
// RUN: xrelay-opt -p 'vm{memory=none}' -t 'memory-plan-svg{dims="n=3"}' %s | filecheck %s --check-prefix=SVG
// RUN: not xrelay-opt -p infer-types -t memory-plan-svg %s 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not xrelay-opt -p 'vm{memory=none}' -t memory-plan-svg --plan-dim m=3 %s 2>&1 | filecheck %s --check-prefix=DIM
// RUN: not xrelay-opt -p 'vm{memory=none}' -t 'memory-plan-svg{dims=n=3}' %s 2>&1 | filecheck %s --check-prefix=SPEC
// RUN: not xrelay-opt -p 'vm{memory=none}' -t 'memory-plan-svg{width=3}' %s 2>&1 | filecheck %s --check-prefix=OPTION

// The targets show the plan right before the program becomes bytecode.
//
// SVG:       <svg xmlns="http://www.w3.org/2000/svg"
// SVG-NEXT:  <title id="title">@main on cpu:0: n = 3: planned 192 B = 1.000 times the lower bound, in 2 allocations; 2 tensors need 192 B one by one</title>
// SVG:       <rect class="peak"
// SVG:       <title>a
// SVG-NEXT:  96 bytes (96 B) at 0 of storage
// SVG-NEXT:  written by fused_exp (exp)
//
// HTML:      <!DOCTYPE html>
// HTML:      <h2 id="p0-title">@main on cpu:0</h2>
// HTML:      <input type="range" id="p0-d0" data-dim="0" min="0" max="1024" step="1" value="3" aria-label="n">
//
// NONE:      error: expected allocations of memory, but the module has none
//
// DIM:       error: no size depends on a dim 'm'; there are: n
//
// SPEC:      target:1:23: error: expected the name of an option or '}', but got '='
//
// OPTION:    target:1:17: error: target 'memory-plan-svg' has no option 'width' (it accepts: dims)
func.func @main(%x: tensor<?x8xf32> {relay.dims = ["n", 8]}) -> tensor<?x8xf32> {
  %a = relay.exp %x : (tensor<?x8xf32>) -> tensor<?x8xf32>
  %b = relay.nn.softmax %a : (tensor<?x8xf32>) -> tensor<?x8xf32>
  func.return %b : tensor<?x8xf32>
}
