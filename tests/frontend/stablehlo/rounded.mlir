module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<7xf32>) -> (tensor<7xf32> {jax.result_info = "result[0]"}, tensor<7xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.round_nearest_afz %arg0 : tensor<7xf32>
    %1 = call @round(%arg0) : (tensor<7xf32>) -> tensor<7xf32>
    return %0, %1 : tensor<7xf32>, tensor<7xf32>
  }
  func.func private @round(%arg0: tensor<7xf32>) -> tensor<7xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<7xf32>
    return %0 : tensor<7xf32>
  }
}
