// RUN: ROUNDTRIP
// RUN: GENERIC_ROUNDTRIP

// Operators on images and boxes.

// CHECK-LABEL: @image_resize2d(
// CHECK:       relay.image.resize2d %a0 {size = array<i64: 6, 8>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32>
// CHECK:       relay.image.resize2d %a1 {size = array<i64: 2, 5>, layout = "NHWC", method = "nearest_neighbor", coordinate_transformation_mode = "align_corners", rounding_method = "floor", out_dtype = f32} : (tensor<1x3x4x2xf32>) -> tensor<1x2x5x2xf32>
func.func @image_resize2d(%a0: tensor<1x2x3x4xf32>, %a1: tensor<1x3x4x2xf32>) {
  %0 = relay.image.resize2d %a0 {size = array<i64: 6, 8>} : (tensor<1x2x3x4xf32>) -> tensor<1x2x6x8xf32>
  %1 = relay.image.resize2d %a1 {size = array<i64: 2, 5>, layout = "NHWC", method = "nearest_neighbor", coordinate_transformation_mode = "align_corners", rounding_method = "floor", out_dtype = f32} : (tensor<1x3x4x2xf32>) -> tensor<1x2x5x2xf32>
  func.return
}

// CHECK-LABEL: @dyn_image_resize2d(
// CHECK:       relay.dyn.image.resize2d %a0, %a1, %a2 : (tensor<1x2x3x4xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x2x?x?xf32>
// CHECK:       relay.dyn.image.resize2d %a3, %a4, %a2 {layout = "NHWC", method = "nearest_neighbor", coordinate_transformation_mode = "align_corners", rounding_method = "floor", out_dtype = f32} : (tensor<1x3x4x2xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<1x?x?x2xf32>
func.func @dyn_image_resize2d(%a0: tensor<1x2x3x4xf32>, %a1: tensor<2xi64>, %a2: tensor<4xf32>, %a3: tensor<1x3x4x2xf32>, %a4: tensor<2xi32>) {
  %0 = relay.dyn.image.resize2d %a0, %a1, %a2 : (tensor<1x2x3x4xf32>, tensor<2xi64>, tensor<4xf32>) -> tensor<1x2x?x?xf32>
  %1 = relay.dyn.image.resize2d %a3, %a4, %a2 {layout = "NHWC", method = "nearest_neighbor", coordinate_transformation_mode = "align_corners", rounding_method = "floor", out_dtype = f32} : (tensor<1x3x4x2xf32>, tensor<2xi32>, tensor<4xf32>) -> tensor<1x?x?x2xf32>
  func.return
}

// CHECK-LABEL: @vision_get_valid_counts(
// CHECK:       relay.vision.get_valid_counts %a0, %a1 : (tensor<1x5x6xf32>, tensor<f32>) -> (tensor<1xi32>, tensor<1x5x6xf32>, tensor<1x5xi32>)
// CHECK:       relay.vision.get_valid_counts %a2, %a1 {id_index = -1 : i64, score_index = 0 : i64} : (tensor<2x5x5xf32>, tensor<f32>) -> (tensor<2xi32>, tensor<2x5x5xf32>, tensor<2x5xi32>)
func.func @vision_get_valid_counts(%a0: tensor<1x5x6xf32>, %a1: tensor<f32>, %a2: tensor<2x5x5xf32>) {
  %0, %1, %2 = relay.vision.get_valid_counts %a0, %a1 : (tensor<1x5x6xf32>, tensor<f32>) -> (tensor<1xi32>, tensor<1x5x6xf32>, tensor<1x5xi32>)
  %3, %4, %5 = relay.vision.get_valid_counts %a2, %a1 {id_index = -1 : i64, score_index = 0 : i64} : (tensor<2x5x5xf32>, tensor<f32>) -> (tensor<2xi32>, tensor<2x5x5xf32>, tensor<2x5xi32>)
  func.return
}

// CHECK-LABEL: @vision_non_max_suppression(
// CHECK:       relay.vision.non_max_suppression %a0, %a1, %a2, %a3, %a4 : (tensor<1x5x6xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>) -> (tensor<1x5xi32>, tensor<1x1xi32>)
// CHECK:       relay.vision.non_max_suppression %a5, %a1, %a2, %a3, %a4 {force_suppress = true, top_k = 3 : i64, coord_start = 1 : i64, score_index = 0 : i64, id_index = -1 : i64, return_indices = false, invalid_to_bottom = true} : (tensor<1x5x5xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>) -> tensor<1x5x5xf32>
func.func @vision_non_max_suppression(%a0: tensor<1x5x6xf32>, %a1: tensor<1xi32>, %a2: tensor<1x5xi32>, %a3: tensor<i32>, %a4: tensor<f32>, %a5: tensor<1x5x5xf32>) {
  %0, %1 = relay.vision.non_max_suppression %a0, %a1, %a2, %a3, %a4 : (tensor<1x5x6xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>) -> (tensor<1x5xi32>, tensor<1x1xi32>)
  %2 = relay.vision.non_max_suppression %a5, %a1, %a2, %a3, %a4 {force_suppress = true, top_k = 3 : i64, coord_start = 1 : i64, score_index = 0 : i64, id_index = -1 : i64, return_indices = false, invalid_to_bottom = true} : (tensor<1x5x5xf32>, tensor<1xi32>, tensor<1x5xi32>, tensor<i32>, tensor<f32>) -> tensor<1x5x5xf32>
  func.return
}

// CHECK-LABEL: @vision_all_class_non_max_suppression(
// CHECK:       relay.vision.all_class_non_max_suppression %a0, %a1, %a2, %a3, %a4 : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<12x3xi64>, tensor<1xi64>)
func.func @vision_all_class_non_max_suppression(%a0: tensor<1x6x4xf32>, %a1: tensor<1x2x6xf32>, %a2: tensor<i64>, %a3: tensor<f32>, %a4: tensor<f32>) {
  %0, %1 = relay.vision.all_class_non_max_suppression %a0, %a1, %a2, %a3, %a4 : (tensor<1x6x4xf32>, tensor<1x2x6xf32>, tensor<i64>, tensor<f32>, tensor<f32>) -> (tensor<12x3xi64>, tensor<1xi64>)
  func.return
}
