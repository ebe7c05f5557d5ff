module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<16xf32>) -> (tensor<16xf32> {jax.result_info = "result[0]"}, tensor<16xf32> {jax.result_info = "result[1]"}, tensor<16xf16> {jax.result_info = "result[2]"}) {
    %0 = chlo.erfc %arg0 : tensor<16xf32> -> tensor<16xf32>
    %cst = stablehlo.constant dense<5.000000e-01> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %2 = stablehlo.multiply %1, %arg0 : tensor<16xf32>
    %3 = stablehlo.negate %arg0 : tensor<16xf32>
    %cst_0 = stablehlo.constant dense<0.707106769> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %5 = stablehlo.multiply %3, %4 : tensor<16xf32>
    %6 = chlo.erfc %5 : tensor<16xf32> -> tensor<16xf32>
    %7 = stablehlo.multiply %2, %6 : tensor<16xf32>
    %8 = stablehlo.convert %arg0 : (tensor<16xf32>) -> tensor<16xf16>
    %9 = chlo.erfc %8 : tensor<16xf16> -> tensor<16xf16>
    return %0, %7, %9 : tensor<16xf32>, tensor<16xf32>, tensor<16xf16>
  }
}
