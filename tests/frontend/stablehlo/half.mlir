module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x3xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8xf16>
    %1 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<3x8xf32>) -> tensor<8x3xf32>
    %2 = stablehlo.convert %1 : (tensor<8x3xf32>) -> tensor<8x3xf16>
    %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<3x8xf16>, tensor<8x3xf16>) -> tensor<3x3xf16>
    %4 = stablehlo.convert %3 : (tensor<3x3xf16>) -> tensor<3x3xf32>
    return %4 : tensor<3x3xf32>
  }
}
