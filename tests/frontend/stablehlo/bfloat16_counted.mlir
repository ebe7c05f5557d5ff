module @jit_counted attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xf32>) -> (tensor<3x8xbf16> {jax.result_info = "result[0]"}, tensor<3x3xbf16> {jax.result_info = "result[1][0]"}, tensor<3x3xi32> {jax.result_info = "result[1][1]"}, tensor<3xi32> {jax.result_info = "result[2]"}, tensor<3x8xbf16> {jax.result_info = "result[3]"}, tensor<3x8xi32> {jax.result_info = "result[4]"}, tensor<8xbf16> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<3x8xf32>) -> tensor<3x8xbf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %1:4 = stablehlo.while(%iterArg = %0, %iterArg_1 = %c_0, %iterArg_2 = %c, %iterArg_3 = %0) : tensor<3x8xbf16>, tensor<i32>, tensor<i32>, tensor<3x8xbf16>
    cond {
      %c_4 = stablehlo.constant dense<9> : tensor<i32>
      %6 = stablehlo.compare LT, %iterArg_1, %c_4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %6 : tensor<i1>
    } do {
      %6:2 = func.call @closed_call(%iterArg, %iterArg_2, %iterArg_3) : (tensor<3x8xbf16>, tensor<i32>, tensor<3x8xbf16>) -> (tensor<i32>, tensor<3x8xbf16>)
      %c_4 = stablehlo.constant dense<1> : tensor<i32>
      %7 = stablehlo.add %iterArg_1, %c_4 : tensor<i32>
      stablehlo.return %iterArg, %7, %6#0, %6#1 : tensor<3x8xbf16>, tensor<i32>, tensor<i32>, tensor<3x8xbf16>
    }
    %2 = call @sort(%0) : (tensor<3x8xbf16>) -> tensor<3x8xbf16>
    %values, %indices = chlo.top_k(%0, k = 3) : tensor<3x8xbf16> -> (tensor<3x3xbf16>, tensor<3x3xi32>)
    %3 = call @argmax(%0) : (tensor<3x8xbf16>) -> tensor<3xi32>
    %4 = stablehlo.convert %0 : (tensor<3x8xbf16>) -> tensor<3x8xi32>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %5 = stablehlo.reduce(%0 init: %cst) applies stablehlo.maximum across dimensions = [0] : (tensor<3x8xbf16>, tensor<bf16>) -> tensor<8xbf16>
    return %2, %values, %indices, %3, %1#3, %4, %5 : tensor<3x8xbf16>, tensor<3x3xbf16>, tensor<3x3xi32>, tensor<3xi32>, tensor<3x8xbf16>, tensor<3x8xi32>, tensor<8xbf16>
  }
  func.func private @closed_call(%arg0: tensor<3x8xbf16>, %arg1: tensor<i32>, %arg2: tensor<3x8xbf16>) -> (tensor<i32>, tensor<3x8xbf16>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg1, %c : tensor<i32>
    %1 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<bf16>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<bf16>) -> tensor<3x8xbf16>
    %3 = stablehlo.multiply %arg0, %2 : tensor<3x8xbf16>
    %4 = stablehlo.add %arg2, %3 : tensor<3x8xbf16>
    return %0, %4 : tensor<i32>, tensor<3x8xbf16>
  }
  func.func private @sort(%arg0: tensor<3x8xbf16>) -> tensor<3x8xbf16> {
    %0 = "stablehlo.sort"(%arg0) <{dimension = 1 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<bf16>, %arg2: tensor<bf16>):
      %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %1 = stablehlo.compare EQ, %arg1, %cst, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %2 = stablehlo.select %1, %cst_0, %arg1 : tensor<i1>, tensor<bf16>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_1 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
      %4 = stablehlo.select %3, %cst_1, %2 : tensor<i1>, tensor<bf16>
      %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %5 = stablehlo.compare EQ, %arg2, %cst_2, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
      %6 = stablehlo.select %5, %cst_3, %arg2 : tensor<i1>, tensor<bf16>
      %7 = stablehlo.compare NE, %arg2, %arg2, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %cst_4 = stablehlo.constant dense<0x7FC0> : tensor<bf16>
      %8 = stablehlo.select %7, %cst_4, %6 : tensor<i1>, tensor<bf16>
      %9 = stablehlo.compare LT, %4, %8, TOTALORDER : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      stablehlo.return %9 : tensor<i1>
    }) : (tensor<3x8xbf16>) -> tensor<3x8xbf16>
    return %0 : tensor<3x8xbf16>
  }
  func.func private @argmax(%arg0: tensor<3x8xbf16>) -> tensor<3xi32> {
    %0 = stablehlo.iota dim = 1 : tensor<3x8xi32>
    %cst = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %1:2 = stablehlo.reduce(%arg0 init: %cst), (%0 init: %c) across dimensions = [1] : (tensor<3x8xbf16>, tensor<3x8xi32>, tensor<bf16>, tensor<i32>) -> (tensor<3xbf16>, tensor<3xi32>)
     reducer(%arg1: tensor<bf16>, %arg3: tensor<bf16>) (%arg2: tensor<i32>, %arg4: tensor<i32>)  {
      %2 = stablehlo.compare GT, %arg1, %arg3, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %3 = stablehlo.compare NE, %arg1, %arg1, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %4 = stablehlo.or %2, %3 : tensor<i1>
      %5 = stablehlo.compare EQ, %arg1, %arg3, FLOAT : (tensor<bf16>, tensor<bf16>) -> tensor<i1>
      %6 = stablehlo.compare LT, %arg2, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %7 = stablehlo.and %5, %6 : tensor<i1>
      %8 = stablehlo.or %4, %7 : tensor<i1>
      %9 = stablehlo.select %4, %arg1, %arg3 : tensor<i1>, tensor<bf16>
      %10 = stablehlo.select %8, %arg2, %arg4 : tensor<i1>, tensor<i32>
      stablehlo.return %9, %10 : tensor<bf16>, tensor<i32>
    }
    return %1#1 : tensor<3xi32>
  }
}
