module @jit_perceptron attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4x16xf32>, %arg1: tensor<16x32xf32>, %arg2: tensor<32x8xf32>) -> (tensor<4x8xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<4x16xf32>) -> tensor<4x16xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<16x32xf32>) -> tensor<16x32xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<32x8xf32>) -> tensor<32x8xbf16>
    %3 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x16xbf16>, tensor<16x32xbf16>) -> tensor<4x32xbf16>
    %4 = stablehlo.multiply %3, %3 : tensor<4x32xbf16>
    %5 = stablehlo.multiply %4, %3 : tensor<4x32xbf16>
    %cst = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<4x32xbf16>
    %7 = stablehlo.multiply %6, %5 : tensor<4x32xbf16>
    %8 = stablehlo.add %3, %7 : tensor<4x32xbf16>
    %cst_0 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<4x32xbf16>
    %10 = stablehlo.multiply %9, %8 : tensor<4x32xbf16>
    %11 = stablehlo.tanh %10 : tensor<4x32xbf16>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<4x32xbf16>
    %13 = stablehlo.add %12, %11 : tensor<4x32xbf16>
    %cst_2 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %14 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<4x32xbf16>
    %15 = stablehlo.multiply %14, %13 : tensor<4x32xbf16>
    %16 = stablehlo.multiply %3, %15 : tensor<4x32xbf16>
    %17 = stablehlo.multiply %16, %16 : tensor<4x32xbf16>
    %18 = stablehlo.convert %17 : (tensor<4x32xbf16>) -> tensor<4x32xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %19 = stablehlo.reduce(%18 init: %cst_3) applies stablehlo.add across dimensions = [1] : (tensor<4x32xf32>, tensor<f32>) -> tensor<4xf32>
    %20 = stablehlo.broadcast_in_dim %19, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %cst_4 = stablehlo.constant dense<3.200000e+01> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<4x1xf32>
    %22 = stablehlo.divide %20, %21 : tensor<4x1xf32>
    %23 = stablehlo.convert %22 : (tensor<4x1xf32>) -> tensor<4x1xbf16>
    %cst_5 = stablehlo.constant dense<1.001360e-05> : tensor<bf16>
    %24 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<bf16>) -> tensor<4x1xbf16>
    %25 = stablehlo.add %23, %24 : tensor<4x1xbf16>
    %26 = stablehlo.sqrt %25 : tensor<4x1xbf16>
    %27 = stablehlo.broadcast_in_dim %26, dims = [0, 1] : (tensor<4x1xbf16>) -> tensor<4x32xbf16>
    %28 = stablehlo.divide %16, %27 : tensor<4x32xbf16>
    %29 = stablehlo.dot_general %28, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<4x32xbf16>, tensor<32x8xbf16>) -> tensor<4x8xbf16>
    %cst_6 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %30 = stablehlo.reduce(%29 init: %cst_6) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xbf16>, tensor<bf16>) -> tensor<4xbf16>
    %cst_7 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %31 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<4xbf16>
    %32 = stablehlo.maximum %31, %30 : tensor<4xbf16>
    %33 = stablehlo.broadcast_in_dim %32, dims = [0] : (tensor<4xbf16>) -> tensor<4x1xbf16>
    %34 = stablehlo.broadcast_in_dim %33, dims = [0, 1] : (tensor<4x1xbf16>) -> tensor<4x8xbf16>
    %35 = stablehlo.subtract %29, %34 : tensor<4x8xbf16>
    %36 = stablehlo.exponential %35 : tensor<4x8xbf16>
    %37 = stablehlo.convert %36 : (tensor<4x8xbf16>) -> tensor<4x8xf32>
    %cst_8 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.reduce(%37 init: %cst_8) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
    %40 = stablehlo.convert %39 : (tensor<4x1xf32>) -> tensor<4x1xbf16>
    %41 = stablehlo.broadcast_in_dim %40, dims = [0, 1] : (tensor<4x1xbf16>) -> tensor<4x8xbf16>
    %42 = stablehlo.divide %36, %41 : tensor<4x8xbf16>
    return %42 : tensor<4x8xbf16>
  }
}
