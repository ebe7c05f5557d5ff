module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6xi32>) -> (tensor<6xi32> {jax.result_info = "result[0]"}, tensor<6xui8> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.count_leading_zeros %arg0 : tensor<6xi32>
    %1 = stablehlo.convert %arg0 : (tensor<6xi32>) -> tensor<6xui8>
    %2 = stablehlo.count_leading_zeros %1 : tensor<6xui8>
    return %0, %2 : tensor<6xi32>, tensor<6xui8>
  }
}
