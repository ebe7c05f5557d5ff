module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xi32>) -> (tensor<8xi32> {jax.result_info = "result[0]"}, tensor<8xi32> {jax.result_info = "result[1][0]"}, tensor<8xi32> {jax.result_info = "result[1][1]"}, tensor<8xi32> {jax.result_info = "result[1][2]"}) {
    %0 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
    %1 = stablehlo.reshape %0 : (tensor<1x8xi32>) -> tensor<8xi32>
    %2 = stablehlo.slice %arg0 [1:2, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
    %3 = stablehlo.reshape %2 : (tensor<1x8xi32>) -> tensor<8xi32>
    %4 = call @lexsort(%1, %3) : (tensor<8xi32>, tensor<8xi32>) -> tensor<8xi32>
    %5 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
    %6 = stablehlo.reshape %5 : (tensor<1x8xi32>) -> tensor<8xi32>
    %7 = stablehlo.slice %arg0 [1:2, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
    %8 = stablehlo.reshape %7 : (tensor<1x8xi32>) -> tensor<8xi32>
    %9 = stablehlo.slice %arg0 [0:1, 0:8] : (tensor<2x8xi32>) -> tensor<1x8xi32>
    %10 = stablehlo.reshape %9 : (tensor<1x8xi32>) -> tensor<8xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %11 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<8xi32>
    %12 = stablehlo.multiply %10, %11 : tensor<8xi32>
    %13:3 = "stablehlo.sort"(%6, %8, %12) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg1: tensor<i32>, %arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<i32>):
      %14 = stablehlo.compare LT, %arg3, %arg4, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %15 = stablehlo.compare LT, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %16 = stablehlo.compare EQ, %arg1, %arg2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %17 = stablehlo.and %16, %14 : tensor<i1>
      %18 = stablehlo.or %15, %17 : tensor<i1>
      stablehlo.return %18 : tensor<i1>
    }) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
    return %4, %13#0, %13#1, %13#2 : tensor<8xi32>, tensor<8xi32>, tensor<8xi32>, tensor<8xi32>
  }
  func.func private @lexsort(%arg0: tensor<8xi32>, %arg1: tensor<8xi32>) -> tensor<8xi32> {
    %0 = stablehlo.iota dim = 0 : tensor<8xi32>
    %1:3 = "stablehlo.sort"(%arg1, %arg0, %0) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg2: tensor<i32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<i32>, %arg6: tensor<i32>, %arg7: tensor<i32>):
      %2 = stablehlo.compare LT, %arg4, %arg5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %3 = stablehlo.compare LT, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %4 = stablehlo.compare EQ, %arg2, %arg3, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %5 = stablehlo.and %4, %2 : tensor<i1>
      %6 = stablehlo.or %3, %5 : tensor<i1>
      stablehlo.return %6 : tensor<i1>
    }) : (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>) -> (tensor<8xi32>, tensor<8xi32>, tensor<8xi32>)
    return %1#2 : tensor<8xi32>
  }
}
