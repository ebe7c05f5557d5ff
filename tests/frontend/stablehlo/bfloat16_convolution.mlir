module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<1x8x8x3xf32>, %arg1: tensor<3x3x3x4xf32>) -> (tensor<1x4x4x4xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<1x8x8x3xf32>) -> tensor<1x8x8x3xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<3x3x3x4xf32>) -> tensor<3x3x3x4xbf16>
    %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], lhs_dilate = [1, 1], rhs_dilate = [1, 1], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x3xbf16>, tensor<3x3x3x4xbf16>) -> tensor<1x8x8x4xbf16>
    %3 = call @relu(%2) : (tensor<1x8x8x4xbf16>) -> tensor<1x8x8x4xbf16>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<bf16>
    %5 = "stablehlo.reduce_window"(%3, %4) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg2: tensor<bf16>, %arg3: tensor<bf16>):
      %6 = stablehlo.maximum %arg2, %arg3 : tensor<bf16>
      stablehlo.return %6 : tensor<bf16>
    }) : (tensor<1x8x8x4xbf16>, tensor<bf16>) -> tensor<1x4x4x4xbf16>
    return %5 : tensor<1x4x4x4xbf16>
  }
  func.func private @relu(%arg0: tensor<1x8x8x4xbf16>) -> tensor<1x8x8x4xbf16> {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<1x8x8x4xbf16>
    %1 = stablehlo.maximum %arg0, %0 : tensor<1x8x8x4xbf16>
    return %1 : tensor<1x8x8x4xbf16>
  }
}
