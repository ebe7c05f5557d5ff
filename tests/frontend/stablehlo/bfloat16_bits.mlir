module @jit_ways_to_bits attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<12xf32>, %arg1: tensor<4xui16>) -> (tensor<12xui16> {jax.result_info = "result[0]"}, tensor<4xbf16> {jax.result_info = "result[1]"}, tensor<6x2xbf16> {jax.result_info = "result[2]"}, tensor<12xbf16> {jax.result_info = "result[3]"}, tensor<12xf32> {jax.result_info = "result[4]"}, tensor<12xi16> {jax.result_info = "result[5]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<12xf32>) -> tensor<12xbf16>
    %1 = stablehlo.reshape %0 : (tensor<12xbf16>) -> tensor<6x2xbf16>
    %2 = stablehlo.bitcast_convert %1 : (tensor<6x2xbf16>) -> tensor<6xi32>
    %3 = stablehlo.bitcast_convert %2 : (tensor<6xi32>) -> tensor<6x2xbf16>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %4 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<12xbf16>
    %5 = chlo.next_after %0, %4 : tensor<12xbf16>, tensor<12xbf16> -> tensor<12xbf16>
    %6 = stablehlo.bitcast_convert %0 : (tensor<12xbf16>) -> tensor<12xui16>
    %7 = stablehlo.bitcast_convert %arg1 : (tensor<4xui16>) -> tensor<4xbf16>
    %8 = stablehlo.reduce_precision %arg0, format = e8m7 : tensor<12xf32>
    %9 = stablehlo.bitcast_convert %0 : (tensor<12xbf16>) -> tensor<12xi16>
    return %6, %7, %3, %5, %8, %9 : tensor<12xui16>, tensor<4xbf16>, tensor<6x2xbf16>, tensor<12xbf16>, tensor<12xf32>, tensor<12xi16>
  }
}
