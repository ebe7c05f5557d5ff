module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = chlo.erf %arg0 : tensor<3x8xf32> -> tensor<3x8xf32>
    %1 = stablehlo.abs %arg0 : tensor<3x8xf32>
    %2 = stablehlo.rsqrt %1 : tensor<3x8xf32>
    %3 = stablehlo.add %0, %2 : tensor<3x8xf32>
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %5 = stablehlo.add %arg0, %4 : tensor<3x8xf32>
    %6 = stablehlo.atan2 %arg0, %5 : tensor<3x8xf32>
    %7 = stablehlo.add %3, %6 : tensor<3x8xf32>
    %8 = stablehlo.exponential_minus_one %arg0 : tensor<3x8xf32>
    %9 = stablehlo.add %7, %8 : tensor<3x8xf32>
    %10 = stablehlo.abs %arg0 : tensor<3x8xf32>
    %11 = stablehlo.log_plus_one %10 : tensor<3x8xf32>
    %12 = stablehlo.add %9, %11 : tensor<3x8xf32>
    %13 = stablehlo.cbrt %arg0 : tensor<3x8xf32>
    %14 = stablehlo.add %12, %13 : tensor<3x8xf32>
    %15 = stablehlo.sign %arg0 : tensor<3x8xf32>
    %16 = stablehlo.add %14, %15 : tensor<3x8xf32>
    %17 = stablehlo.floor %arg0 : tensor<3x8xf32>
    %18 = stablehlo.add %16, %17 : tensor<3x8xf32>
    %19 = call @round(%arg0) : (tensor<3x8xf32>) -> tensor<3x8xf32>
    %20 = stablehlo.add %18, %19 : tensor<3x8xf32>
    %21 = chlo.sinh %arg0 : tensor<3x8xf32> -> tensor<3x8xf32>
    %22 = stablehlo.add %20, %21 : tensor<3x8xf32>
    %23 = stablehlo.negate %arg0 : tensor<3x8xf32>
    %24 = stablehlo.exponential %23 : tensor<3x8xf32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %25 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %26 = stablehlo.add %25, %24 : tensor<3x8xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %27 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %28 = stablehlo.divide %27, %26 : tensor<3x8xf32>
    %29 = stablehlo.add %22, %28 : tensor<3x8xf32>
    %30 = stablehlo.tan %arg0 : tensor<3x8xf32>
    %31 = stablehlo.add %29, %30 : tensor<3x8xf32>
    %32 = stablehlo.abs %arg0 : tensor<3x8xf32>
    %cst_2 = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %33 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %34 = stablehlo.power %32, %33 : tensor<3x8xf32>
    %35 = stablehlo.add %31, %34 : tensor<3x8xf32>
    return %35 : tensor<3x8xf32>
  }
  func.func private @round(%arg0: tensor<3x8xf32>) -> tensor<3x8xf32> {
    %0 = stablehlo.round_nearest_even %arg0 : tensor<3x8xf32>
    return %0 : tensor<3x8xf32>
  }
}
