module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.compare GT, %arg0, %1, FLOAT : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
    %cst_0 = stablehlo.constant dense<3.000000e+00> : tensor<f32>
    %3 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %4 = stablehlo.compare LT, %arg0, %3, FLOAT : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
    %5 = stablehlo.not %4 : tensor<3x8xi1>
    %6 = stablehlo.and %2, %5 : tensor<3x8xi1>
    %7 = stablehlo.or %0, %6 : tensor<3x8xi1>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @_where(%7, %arg0, %c) : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<i32>) -> tensor<3x8xf32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %9 = call @clip(%arg0, %c_1, %c_2) : (tensor<3x8xf32>, tensor<i32>, tensor<i32>) -> tensor<3x8xf32>
    %10 = stablehlo.add %8, %9 : tensor<3x8xf32>
    %11 = stablehlo.convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8xi32>
    %c_3 = stablehlo.constant dense<3> : tensor<i32>
    %12 = call @remainder(%11, %c_3) : (tensor<3x8xi32>, tensor<i32>) -> tensor<3x8xi32>
    %13 = stablehlo.convert %12 : (tensor<3x8xi32>) -> tensor<3x8xf32>
    %14 = stablehlo.add %10, %13 : tensor<3x8xf32>
    return %14 : tensor<3x8xf32>
  }
  func.func private @_where(%arg0: tensor<3x8xi1>, %arg1: tensor<3x8xf32>, %arg2: tensor<i32>) -> tensor<3x8xf32> {
    %0 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.select %arg0, %arg1, %1 : tensor<3x8xi1>, tensor<3x8xf32>
    return %2 : tensor<3x8xf32>
  }
  func.func private @clip(%arg0: tensor<3x8xf32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<3x8xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %2 = stablehlo.maximum %1, %arg0 : tensor<3x8xf32>
    %3 = stablehlo.convert %arg2 : (tensor<i32>) -> tensor<f32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [] : (tensor<f32>) -> tensor<3x8xf32>
    %5 = stablehlo.minimum %4, %2 : tensor<3x8xf32>
    return %5 : tensor<3x8xf32>
  }
  func.func private @remainder(%arg0: tensor<3x8xi32>, %arg1: tensor<i32>) -> tensor<3x8xi32> {
    %0 = stablehlo.convert %arg1 : tensor<i32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.compare EQ, %0, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = call @_where_0(%1, %c_0, %0) : (tensor<i1>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<3x8xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<3x8xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<3x8xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<3x8xi32>, tensor<3x8xi32>) -> tensor<3x8xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x8xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<3x8xi32>, tensor<3x8xi32>) -> tensor<3x8xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.compare LT, %2, %c_3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %10 = stablehlo.broadcast_in_dim %9, dims = [] : (tensor<i1>) -> tensor<3x8xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<3x8xi1>, tensor<3x8xi1>) -> tensor<3x8xi1>
    %12 = stablehlo.and %11, %6 : tensor<3x8xi1>
    %13 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<i32>) -> tensor<3x8xi32>
    %14 = stablehlo.add %4, %13 : tensor<3x8xi32>
    %15 = stablehlo.select %12, %14, %4 : tensor<3x8xi1>, tensor<3x8xi32>
    return %15 : tensor<3x8xi32>
  }
  func.func private @_where_0(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<i32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<i1>, tensor<i32>
    return %0 : tensor<i32>
  }
}
