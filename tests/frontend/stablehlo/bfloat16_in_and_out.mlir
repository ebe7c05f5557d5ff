module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xbf16>, %arg1: tensor<3x8xbf16>) -> (tensor<3x8xbf16> {jax.result_info = "result[0]"}, tensor<3x8xf16> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.multiply %arg0, %arg1 : tensor<3x8xbf16>
    %1 = stablehlo.add %arg0, %arg1 : tensor<3x8xbf16>
    %2 = stablehlo.convert %1 : (tensor<3x8xbf16>) -> tensor<3x8xf16>
    return %0, %2 : tensor<3x8xbf16>, tensor<3x8xf16>
  }
}
