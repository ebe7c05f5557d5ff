module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8xf32>) -> (tensor<8xf32> {jax.result_info = "result"}) {
    %0 = call @cumlogsumexp(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
    %1 = stablehlo.slice %arg0 [0:7:2] : (tensor<8xf32>) -> tensor<4xf32>
    %2 = stablehlo.slice %arg0 [1:8:2] : (tensor<8xf32>) -> tensor<4xf32>
    %3 = stablehlo.add %1, %2 : tensor<4xf32>
    %4 = stablehlo.slice %3 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
    %5 = stablehlo.slice %3 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %6 = stablehlo.add %4, %5 : tensor<2xf32>
    %7 = stablehlo.slice %6 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %8 = stablehlo.slice %6 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %9 = stablehlo.add %7, %8 : tensor<1xf32>
    %10 = stablehlo.slice %9 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
    %11 = stablehlo.slice %6 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %12 = stablehlo.add %10, %11 : tensor<0xf32>
    %13 = stablehlo.slice %6 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %14 = stablehlo.concatenate %13, %12, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %15 = stablehlo.pad %14, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.pad %9, %cst_0, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %17 = stablehlo.add %15, %16 : tensor<2xf32>
    %18 = stablehlo.slice %17 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %19 = stablehlo.slice %3 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
    %20 = stablehlo.add %18, %19 : tensor<1xf32>
    %21 = stablehlo.slice %3 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %22 = stablehlo.concatenate %21, %20, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %23 = stablehlo.pad %22, %cst_1, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.pad %17, %cst_2, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %25 = stablehlo.add %23, %24 : tensor<4xf32>
    %26 = stablehlo.slice %25 [0:3] : (tensor<4xf32>) -> tensor<3xf32>
    %27 = stablehlo.slice %arg0 [2:8:2] : (tensor<8xf32>) -> tensor<3xf32>
    %28 = stablehlo.add %26, %27 : tensor<3xf32>
    %29 = stablehlo.slice %arg0 [0:1] : (tensor<8xf32>) -> tensor<1xf32>
    %30 = stablehlo.concatenate %29, %28, dim = 0 : (tensor<1xf32>, tensor<3xf32>) -> tensor<4xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %31 = stablehlo.pad %30, %cst_3, low = [0], high = [1], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %32 = stablehlo.pad %25, %cst_4, low = [1], high = [0], interior = [1] : (tensor<4xf32>, tensor<f32>) -> tensor<8xf32>
    %33 = stablehlo.add %31, %32 : tensor<8xf32>
    %34 = stablehlo.add %0, %33 : tensor<8xf32>
    return %34 : tensor<8xf32>
  }
  func.func private @cumlogsumexp(%arg0: tensor<8xf32>) -> tensor<8xf32> {
    %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%arg0, %cst) <{base_dilations = array<i64: 1>, padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dilations = array<i64: 1>, window_dimensions = array<i64: 8>, window_strides = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %1 = stablehlo.maximum %arg1, %arg2 : tensor<f32>
      %2 = stablehlo.subtract %arg1, %arg2 : tensor<f32>
      %3 = stablehlo.compare NE, %2, %2, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %4 = stablehlo.add %arg1, %arg2 : tensor<f32>
      %5 = stablehlo.abs %2 : tensor<f32>
      %6 = stablehlo.negate %5 : tensor<f32>
      %7 = stablehlo.exponential %6 : tensor<f32>
      %8 = stablehlo.log_plus_one %7 : tensor<f32>
      %9 = stablehlo.add %1, %8 : tensor<f32>
      %10 = stablehlo.select %3, %4, %9 : tensor<i1>, tensor<f32>
      stablehlo.return %10 : tensor<f32>
    }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}
