module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>, %arg1: tensor<i32>) -> (tensor<2x4xf32> {jax.result_info = "result[0]"}, tensor<2x8xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.slice %arg0 [1:3, 0:8:2] : (tensor<3x8xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.reverse %0, dims = [0] : tensor<2x4xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.compare LT, %arg1, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<3> : tensor<i32>
    %3 = stablehlo.add %arg1, %c_0 : tensor<i32>
    %4 = stablehlo.select %2, %3, %arg1 : tensor<i1>, tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.dynamic_slice %arg0, %4, %c_1, sizes = [2, 8] : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<2x8xf32>
    return %1, %5 : tensor<2x4xf32>, tensor<2x8xf32>
  }
}
