module @jit_kalman attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf32>) -> (tensor<12x2xf32> {jax.result_info = "result"}) {
    %cst = stablehlo.constant dense<[[1.000000e+00, 1.000000e+00], [0.000000e+00, 1.000000e+00]]> : tensor<2x2xf32>
    %cst_0 = stablehlo.constant dense<[[1.000000e+00, 0.000000e+00]]> : tensor<1x2xf32>
    %cst_1 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %1 = stablehlo.iota dim = 0 : tensor<2x2xi32>
    %2 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %4 = stablehlo.add %1, %3 : tensor<2x2xi32>
    %5 = stablehlo.compare EQ, %4, %2, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %6 = stablehlo.convert %5 : (tensor<2x2xi1>) -> tensor<2x2xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %7 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<12x2xf32>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %8:7 = stablehlo.while(%iterArg = %arg0, %iterArg_4 = %cst, %iterArg_5 = %cst_0, %iterArg_6 = %c_3, %iterArg_7 = %0, %iterArg_8 = %6, %iterArg_9 = %7) : tensor<12xf32>, tensor<2x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>, tensor<12x2xf32>
    cond {
      %c_10 = stablehlo.constant dense<12> : tensor<i32>
      %9 = stablehlo.compare LT, %iterArg_6, %c_10, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    } do {
      %9 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_6) : (tensor<12xf32>, tensor<i32>) -> tensor<f32>
      %10:3 = func.call @closed_call(%iterArg_4, %iterArg_5, %iterArg_7, %iterArg_8, %9) : (tensor<2x2xf32>, tensor<1x2xf32>, tensor<2xf32>, tensor<2x2xf32>, tensor<f32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>)
      %11 = func.call @dynamic_update_index_in_dim(%iterArg_9, %10#2, %iterArg_6) : (tensor<12x2xf32>, tensor<2xf32>, tensor<i32>) -> tensor<12x2xf32>
      %c_10 = stablehlo.constant dense<1> : tensor<i32>
      %12 = stablehlo.add %iterArg_6, %c_10 : tensor<i32>
      stablehlo.return %iterArg, %iterArg_4, %iterArg_5, %12, %10#0, %10#1, %11 : tensor<12xf32>, tensor<2x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<2xf32>, tensor<2x2xf32>, tensor<12x2xf32>
    }
    return %8#6 : tensor<12x2xf32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<12xf32>, %arg1: tensor<i32>) -> tensor<f32> {
    %0 = stablehlo.dynamic_slice %arg0, %arg1, sizes = [1] : (tensor<12xf32>, tensor<i32>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
  func.func private @closed_call(%arg0: tensor<2x2xf32>, %arg1: tensor<1x2xf32>, %arg2: tensor<2xf32>, %arg3: tensor<2x2xf32>, %arg4: tensor<f32>) -> (tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>) {
    %0 = stablehlo.dot_general %arg0, %arg2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.dot_general %arg0, %arg3, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %2 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %4 = stablehlo.iota dim = 0 : tensor<2x2xi32>
    %5 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %6 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %7 = stablehlo.add %4, %6 : tensor<2x2xi32>
    %8 = stablehlo.compare EQ, %7, %5, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %9 = stablehlo.convert %8 : (tensor<2x2xi1>) -> tensor<2x2xf32>
    %cst = stablehlo.constant dense<0.00999999977> : tensor<f32>
    %10 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
    %11 = stablehlo.multiply %10, %9 : tensor<2x2xf32>
    %12 = stablehlo.add %3, %11 : tensor<2x2xf32>
    %13 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<1x2xf32>) -> tensor<2x1xf32>
    %14 = stablehlo.dot_general %12, %13, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x1xf32>) -> tensor<2x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<2x1xf32>) -> tensor<2xf32>
    %16 = stablehlo.dot_general %arg1, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x2xf32>, tensor<2x2xf32>) -> tensor<1x2xf32>
    %17 = stablehlo.transpose %arg1, dims = [1, 0] : (tensor<1x2xf32>) -> tensor<2x1xf32>
    %18 = stablehlo.dot_general %16, %17, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<1x2xf32>, tensor<2x1xf32>) -> tensor<1x1xf32>
    %19 = stablehlo.reshape %18 : (tensor<1x1xf32>) -> tensor<f32>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %20 = stablehlo.add %19, %cst_0 : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %20, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %22 = stablehlo.divide %15, %21 : tensor<2xf32>
    %23 = stablehlo.slice %0 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %24 = stablehlo.reshape %23 : (tensor<1xf32>) -> tensor<f32>
    %25 = stablehlo.subtract %arg4, %24 : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %27 = stablehlo.multiply %22, %26 : tensor<2xf32>
    %28 = stablehlo.add %0, %27 : tensor<2xf32>
    %29 = stablehlo.iota dim = 0 : tensor<2x2xi32>
    %30 = stablehlo.iota dim = 1 : tensor<2x2xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %31 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<2x2xi32>
    %32 = stablehlo.add %29, %31 : tensor<2x2xi32>
    %33 = stablehlo.compare EQ, %32, %30, SIGNED : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi1>
    %34 = stablehlo.convert %33 : (tensor<2x2xi1>) -> tensor<2x2xf32>
    %35 = stablehlo.broadcast_in_dim %22, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %36 = stablehlo.dot_general %35, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
    %37 = stablehlo.subtract %34, %36 : tensor<2x2xf32>
    %38 = stablehlo.dot_general %37, %12, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    return %28, %38, %28 : tensor<2xf32>, tensor<2x2xf32>, tensor<2xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<12x2xf32>, %arg1: tensor<2xf32>, %arg2: tensor<i32>) -> tensor<12x2xf32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2, %c : (tensor<12x2xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<12x2xf32>
    return %1 : tensor<12x2xf32>
  }
}
