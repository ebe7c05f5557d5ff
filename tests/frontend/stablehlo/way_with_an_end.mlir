module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:1] : (tensor<3x8xf32>) -> tensor<1x1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x1xf32>) -> tensor<f32>
    %cst = stablehlo.constant dense<5.000000e+00> : tensor<f32>
    %2 = stablehlo.compare GT, %1, %cst, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %3 = stablehlo.convert %2 : (tensor<i1>) -> tensor<i32>
    %4 = "stablehlo.case"(%3) ({
      %cst_0 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %5 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
      %6 = stablehlo.multiply %arg0, %5 : tensor<3x8xf32>
      stablehlo.return %6 : tensor<3x8xf32>
    }, {
      %5 = stablehlo.while(%iterArg = %arg0) : tensor<3x8xf32>
      cond {
        %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %6 = stablehlo.reduce(%iterArg init: %cst_0) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x8xf32>, tensor<f32>) -> tensor<f32>
        %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
        %7 = stablehlo.compare NE, %6, %cst_1, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %7 : tensor<i1>
      } do {
        %cst_0 = stablehlo.constant dense<5.000000e-01> : tensor<f32>
        %6 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
        %7 = stablehlo.multiply %iterArg, %6 : tensor<3x8xf32>
        stablehlo.return %7 : tensor<3x8xf32>
      }
      stablehlo.return %5 : tensor<3x8xf32>
    }) : (tensor<i32>) -> tensor<3x8xf32>
    return %4 : tensor<3x8xf32>
  }
}
