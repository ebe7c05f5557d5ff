module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<3x8xi32>) -> (tensor<8xi32> {jax.result_info = "result[0]"}, tensor<3xi32> {jax.result_info = "result[1]"}, tensor<i32> {jax.result_info = "result[2]"}, tensor<3xi1> {jax.result_info = "result[3]"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.reduce(%arg0 init: %c) applies stablehlo.xor across dimensions = [0] : (tensor<3x8xi32>, tensor<i32>) -> tensor<8xi32>
    %c_0 = stablehlo.constant dense<-1> : tensor<i32>
    %1 = stablehlo.reduce(%arg0 init: %c_0) applies stablehlo.and across dimensions = [1] : (tensor<3x8xi32>, tensor<i32>) -> tensor<3xi32>
    %c_1 = stablehlo.constant dense<9> : tensor<i32>
    %2 = stablehlo.reduce(%arg0 init: %c_1) applies stablehlo.or across dimensions = [0, 1] : (tensor<3x8xi32>, tensor<i32>) -> tensor<i32>
    %c_2 = stablehlo.constant dense<2> : tensor<i32>
    %3 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<3x8xi32>
    %4 = stablehlo.compare GT, %arg0, %3, SIGNED : (tensor<3x8xi32>, tensor<3x8xi32>) -> tensor<3x8xi1>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %5 = stablehlo.reduce(%4 init: %c_3) applies stablehlo.xor across dimensions = [1] : (tensor<3x8xi1>, tensor<i1>) -> tensor<3xi1>
    return %0, %1, %2, %5 : tensor<8xi32>, tensor<3xi32>, tensor<i32>, tensor<3xi1>
  }
}
