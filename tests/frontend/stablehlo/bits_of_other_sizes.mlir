module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8x4xui8> {jax.result_info = "result[0]"}, tensor<3x8x2xf16> {jax.result_info = "result[1]"}, tensor<3x8xf32> {jax.result_info = "result[2]"}) {
    %0 = stablehlo.bitcast_convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8x4xui8>
    %1 = stablehlo.bitcast_convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8x2xf16>
    %2 = stablehlo.bitcast_convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8x2xi16>
    %3 = stablehlo.bitcast_convert %2 : (tensor<3x8x2xi16>) -> tensor<3x8xf32>
    return %0, %1, %3 : tensor<3x8x4xui8>, tensor<3x8x2xf16>, tensor<3x8xf32>
  }
}
