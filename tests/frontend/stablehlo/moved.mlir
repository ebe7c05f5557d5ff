module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = call @_roll_static(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %1 = call @_flip(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %2 = stablehlo.add %0, %1 : tensor<3x8xf32>
    %3 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<3x8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.reshape %3 : (tensor<1x8xf32>) -> tensor<1x1x1x8xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1, 2, 3] : (tensor<1x1x1x8xf32>) -> tensor<3x1x1x8xf32>
    %6 = stablehlo.reshape %5 : (tensor<3x1x1x8xf32>) -> tensor<3x8xf32>
    %7 = stablehlo.add %2, %6 : tensor<3x8xf32>
    %8 = stablehlo.slice %arg0 [0:3, 0:4] : (tensor<3x8xf32>) -> tensor<3x4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0, 1] : (tensor<3x4xf32>) -> tensor<3x4x2xf32>
    %10 = stablehlo.reshape %9 : (tensor<3x4x2xf32>) -> tensor<3x8xf32>
    %11 = stablehlo.add %7, %10 : tensor<3x8xf32>
    return %11 : tensor<3x8xf32>
  }
  func.func private @_roll_static(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = stablehlo.slice %arg0 [0:3, 6:8] : (tensor<3x8xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.slice %arg0 [0:3, 0:6] : (tensor<3x8xf32>) -> tensor<3x6xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 1 : (tensor<3x2xf32>, tensor<3x6xf32>) -> tensor<3x8xf32>
    return %2 : tensor<3x8xf32>
  }
  func.func private @_flip(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = stablehlo.reverse %arg0, dims = [0] : tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
}
