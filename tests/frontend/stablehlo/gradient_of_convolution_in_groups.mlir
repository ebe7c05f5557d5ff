module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x2x2x4xf32>, %arg1: tensor<2x7x6x4xf32>) -> (tensor<2x2x2x4xf32> {jax.result_info = "result[0]"}, tensor<2x7x6x4xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convolution(%arg1, %arg0) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 1], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x7x6x4xf32>, tensor<2x2x2x4xf32>) -> tensor<2x3x4x4xf32>
    %1 = stablehlo.cosine %0 : tensor<2x3x4x4xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x3x4x4xf32>
    %3 = stablehlo.multiply %2, %1 : tensor<2x3x4x4xf32>
    %4 = stablehlo.convolution(%arg1, %3) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], lhs_dilate = [1, 1], rhs_dilate = [2, 1], reverse = [false, false]} {batch_group_count = 2 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x7x6x4xf32>, tensor<2x3x4x4xf32>) -> tensor<2x2x2x4xf32>
    %5 = stablehlo.reshape %arg0 : (tensor<2x2x2x4xf32>) -> tensor<2x2x2x2x2xf32>
    %6 = stablehlo.transpose %5, dims = [0, 1, 3, 2, 4] : (tensor<2x2x2x2x2xf32>) -> tensor<2x2x2x2x2xf32>
    %7 = stablehlo.reshape %6 : (tensor<2x2x2x2x2xf32>) -> tensor<2x2x4x2xf32>
    %8 = stablehlo.reverse %7, dims = [0, 1] : tensor<2x2x4x2xf32>
    %9 = stablehlo.convolution(%3, %8) dim_numbers = [b, 0, 1, f]x[0, 1, o, i]->[b, 0, 1, f], window = {stride = [1, 1], pad = [[2, 2], [2, 2]], lhs_dilate = [2, 1], rhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision DEFAULT>]} : (tensor<2x3x4x4xf32>, tensor<2x2x4x2xf32>) -> tensor<2x7x6x4xf32>
    return %4, %9 : tensor<2x2x2x4xf32>, tensor<2x7x6x4xf32>
  }
}
