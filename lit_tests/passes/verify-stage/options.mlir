// RUN: not xrelay-opt -p 'verify-stage{stage=nowhere}' %s 2>&1 | filecheck %s --check-prefix=UNKNOWN
// RUN: not xrelay-opt -p 'verify-stage' %s 2>&1 | filecheck %s --check-prefix=MISSING
// RUN: xrelay-opt -p 'verify-stage{stage=relay}' %s | filecheck %s

// The stage is required and must be a level; `relay` allows everything.
//
// UNKNOWN: error: option 'stage' of pass 'verify-stage' must be {{.*}}planned{{.*}}, but is "nowhere"
// MISSING: error: pass 'verify-stage' needs option 'stage'
// CHECK:   relay.on_device
func.func @f(%x: tensor<4xf32>) {
  %y = relay.on_device %x, #relay.device<cpu:0> : (tensor<4xf32>) -> !relay.incomplete
  func.return
}
