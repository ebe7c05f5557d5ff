module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x6x2x8xf32>, %arg1: tensor<2x6x2x8xf32>) -> (tensor<2x6x2x8xbf16> {jax.result_info = "result"}) {
    %0 = stablehlo.convert %arg0 : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xbf16>
    %2 = stablehlo.reverse %arg0, dims = [0] : tensor<2x6x2x8xf32>
    %3 = stablehlo.convert %2 : (tensor<2x6x2x8xf32>) -> tensor<2x6x2x8xbf16>
    %4 = stablehlo.reshape %0 : (tensor<2x6x2x8xbf16>) -> tensor<2x6x2x1x8xbf16>
    %5 = stablehlo.dot_general %4, %1, batching_dims = [0, 2] x [0, 2], contracting_dims = [4] x [3], precision = [DEFAULT, DEFAULT], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<2x6x2x1x8xbf16>, tensor<2x6x2x8xbf16>) -> tensor<2x2x6x1x6xf32>
    %cst = stablehlo.constant dense<0.353553385> : tensor<f32>
    %6 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2x6x1x6xf32>
    %7 = stablehlo.multiply %5, %6 : tensor<2x2x6x1x6xf32>
    %c = stablehlo.constant dense<true> : tensor<i1>
    %8 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i1>) -> tensor<2x2x6x6xi1>
    %c_0 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %10 = call @tril(%9) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %11 = stablehlo.broadcast_in_dim %10, dims = [2, 3] : (tensor<6x6xi1>) -> tensor<1x1x6x6xi1>
    %12 = stablehlo.broadcast_in_dim %11, dims = [0, 1, 2, 3] : (tensor<1x1x6x6xi1>) -> tensor<2x2x6x6xi1>
    %13 = stablehlo.and %8, %12 : tensor<2x2x6x6xi1>
    %cst_1 = stablehlo.constant dense<-2.38197633E+38> : tensor<f32>
    %14 = call @_where(%13, %7, %cst_1) : (tensor<2x2x6x6xi1>, tensor<2x2x6x1x6xf32>, tensor<f32>) -> tensor<1x2x2x6x6xf32>
    %cst_2 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %15 = stablehlo.reduce(%14 init: %cst_2) applies stablehlo.maximum across dimensions = [4] : (tensor<1x2x2x6x6xf32>, tensor<f32>) -> tensor<1x2x2x6xf32>
    %cst_3 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<1x2x2x6xf32>
    %17 = stablehlo.maximum %16, %15 : tensor<1x2x2x6xf32>
    %18 = stablehlo.broadcast_in_dim %17, dims = [0, 1, 2, 3] : (tensor<1x2x2x6xf32>) -> tensor<1x2x2x6x1xf32>
    %19 = stablehlo.broadcast_in_dim %18, dims = [0, 1, 2, 3, 4] : (tensor<1x2x2x6x1xf32>) -> tensor<1x2x2x6x6xf32>
    %20 = stablehlo.subtract %14, %19 : tensor<1x2x2x6x6xf32>
    %21 = stablehlo.exponential %20 : tensor<1x2x2x6x6xf32>
    %cst_4 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %22 = stablehlo.reduce(%21 init: %cst_4) applies stablehlo.add across dimensions = [4] : (tensor<1x2x2x6x6xf32>, tensor<f32>) -> tensor<1x2x2x6xf32>
    %23 = stablehlo.broadcast_in_dim %22, dims = [0, 1, 2, 3] : (tensor<1x2x2x6xf32>) -> tensor<1x2x2x6x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [0, 1, 2, 3, 4] : (tensor<1x2x2x6x1xf32>) -> tensor<1x2x2x6x6xf32>
    %25 = stablehlo.divide %21, %24 : tensor<1x2x2x6x6xf32>
    %26 = stablehlo.convert %25 : (tensor<1x2x2x6x6xf32>) -> tensor<1x2x2x6x6xbf16>
    %27 = stablehlo.dot_general %3, %26, batching_dims = [0, 2] x [1, 2], contracting_dims = [1] x [4], precision = [DEFAULT, DEFAULT] : (tensor<2x6x2x8xbf16>, tensor<1x2x2x6x6xbf16>) -> tensor<2x2x8x1x6xbf16>
    %28 = stablehlo.transpose %27, dims = [3, 0, 4, 1, 2] : (tensor<2x2x8x1x6xbf16>) -> tensor<1x2x6x2x8xbf16>
    %29 = stablehlo.transpose %28, dims = [1, 2, 3, 0, 4] : (tensor<1x2x6x2x8xbf16>) -> tensor<2x6x2x1x8xbf16>
    %30 = stablehlo.reshape %29 : (tensor<2x6x2x1x8xbf16>) -> tensor<2x6x2x8xbf16>
    return %30 : tensor<2x6x2x8xbf16>
  }
  func.func private @tril(%arg0: tensor<6x6xi1>) -> tensor<6x6xi1> {
    %0 = stablehlo.iota dim = 0 : tensor<6x6xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<6x6xi32>
    %2 = stablehlo.add %0, %1 : tensor<6x6xi32>
    %3 = stablehlo.iota dim = 1 : tensor<6x6xi32>
    %4 = stablehlo.compare GE, %2, %3, SIGNED : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %6 = stablehlo.select %4, %arg0, %5 : tensor<6x6xi1>, tensor<6x6xi1>
    return %6 : tensor<6x6xi1>
  }
  func.func private @_where(%arg0: tensor<2x2x6x6xi1>, %arg1: tensor<2x2x6x1x6xf32>, %arg2: tensor<f32>) -> tensor<1x2x2x6x6xf32> {
    %0 = stablehlo.broadcast_in_dim %arg2, dims = [] : (tensor<f32>) -> tensor<2x2x6x6xf32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xi1>) -> tensor<1x2x2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [1, 2, 3, 4] : (tensor<2x2x6x6xf32>) -> tensor<1x2x2x6x6xf32>
    %3 = stablehlo.transpose %arg1, dims = [3, 0, 1, 2, 4] : (tensor<2x2x6x1x6xf32>) -> tensor<1x2x2x6x6xf32>
    %4 = stablehlo.select %1, %3, %2 : tensor<1x2x2x6x6xi1>, tensor<1x2x2x6x6xf32>
    return %4 : tensor<1x2x2x6x6xf32>
  }
}
