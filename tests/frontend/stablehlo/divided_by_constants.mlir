module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xi8>) -> (tensor<2xi8> {jax.result_info = "result[0]"}, tensor<2xi8> {jax.result_info = "result[1]"}, tensor<2xi8> {jax.result_info = "result[2]"}) {
    %c = stablehlo.constant dense<0> : tensor<i8>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i8>) -> tensor<2xi8>
    %1 = stablehlo.divide %arg0, %0 : tensor<2xi8>
    %c_0 = stablehlo.constant dense<-1> : tensor<i8>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i8>) -> tensor<2xi8>
    %3 = stablehlo.remainder %arg0, %2 : tensor<2xi8>
    %c_1 = stablehlo.constant dense<-1> : tensor<i8>
    %4 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i8>) -> tensor<2xi8>
    %5 = stablehlo.divide %arg0, %4 : tensor<2xi8>
    return %1, %3, %5 : tensor<2xi8>, tensor<2xi8>, tensor<2xi8>
  }
}
