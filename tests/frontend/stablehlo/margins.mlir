module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<6x9xf32> {jax.result_info = "result[0]"}, tensor<7x16xf32> {jax.result_info = "result[1]"}) {
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %0 = call @_pad(%arg0, %cst) : (tensor<3x8xf32>, tensor<f32>) -> tensor<6x9xf32>
    %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %1 = stablehlo.pad %arg0, %cst_0, low = [1, 0], high = [-1, 1], interior = [2, 1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<7x16xf32>
    return %0, %1 : tensor<6x9xf32>, tensor<7x16xf32>
  }
  func.func private @_pad(%arg0: tensor<3x8xf32>, %arg1: tensor<f32>) -> tensor<6x9xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.pad %arg0, %0, low = [1, 0], high = [2, 1], interior = [0, 0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<6x9xf32>
    return %1 : tensor<6x9xf32>
  }
}
