module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x3x4xf32>, %arg1: tensor<2x4x5xf32>, %arg2: tensor<5x4xf32>) -> (tensor<2x3x5xf32> {jax.result_info = "result[0]"}, tensor<2x5x3xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x3x5xf32>
    %1 = stablehlo.dot_general %arg2, %arg0, contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<5x4xf32>, tensor<2x3x4xf32>) -> tensor<5x2x3xf32>
    %2 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<5x2x3xf32>) -> tensor<2x5x3xf32>
    return %0, %2 : tensor<2x3x5xf32>, tensor<2x5x3xf32>
  }
}
