module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<4xf32>) -> (tensor<4x4xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.iota dim = 0 : tensor<4x4xi32>
    %1 = stablehlo.iota dim = 1 : tensor<4x4xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<4x4xi32>
    %3 = stablehlo.add %0, %2 : tensor<4x4xi32>
    %4 = stablehlo.compare EQ, %3, %1, SIGNED : (tensor<4x4xi32>, tensor<4x4xi32>) -> tensor<4x4xi1>
    %5 = stablehlo.convert %4 : (tensor<4x4xi1>) -> tensor<4x4xf32>
    %6 = stablehlo.slice %5 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = stablehlo.convert %6 : tensor<4x4xf32>
    %8 = stablehlo.cosine %arg0 : tensor<4xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %10 = stablehlo.broadcast_in_dim %9, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %11 = stablehlo.multiply %7, %10 : tensor<4x4xf32>
    %12 = stablehlo.cosine %arg0 : tensor<4xf32>
    %13 = stablehlo.sine %arg0 : tensor<4xf32>
    %14 = stablehlo.broadcast_in_dim %13, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %15 = stablehlo.broadcast_in_dim %14, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<4x4xf32>
    %16 = stablehlo.multiply %7, %15 : tensor<4x4xf32>
    %17 = stablehlo.negate %16 : tensor<4x4xf32>
    %18 = stablehlo.reverse %arg0, dims = [0] : tensor<4xf32>
    %19 = stablehlo.reverse %7, dims = [1] : tensor<4x4xf32>
    %20 = stablehlo.iota dim = 0 : tensor<1x1xi32>
    %21 = stablehlo.iota dim = 1 : tensor<1x1xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %22 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %23 = stablehlo.add %20, %22 : tensor<1x1xi32>
    %24 = stablehlo.compare EQ, %23, %21, SIGNED : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi1>
    %25 = stablehlo.convert %24 : (tensor<1x1xi1>) -> tensor<1x1xf32>
    %26 = stablehlo.slice %25 [0:1, 0:1] : (tensor<1x1xf32>) -> tensor<1x1xf32>
    %27 = stablehlo.reshape %26 : (tensor<1x1xf32>) -> tensor<1xf32>
    %28 = stablehlo.convert %27 : tensor<1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0] : (tensor<1xf32>) -> tensor<1x4xf32>
    %30 = stablehlo.broadcast_in_dim %11, dims = [0, 2] : (tensor<4x4xf32>) -> tensor<4x1x4xf32>
    %31 = stablehlo.broadcast_in_dim %29, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %32 = stablehlo.broadcast_in_dim %31, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<4x1x4xf32>
    %33 = stablehlo.multiply %30, %32 : tensor<4x1x4xf32>
    %34 = stablehlo.broadcast_in_dim %18, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %35 = stablehlo.broadcast_in_dim %19, dims = [0, 2] : (tensor<4x4xf32>) -> tensor<4x1x4xf32>
    %36 = stablehlo.multiply %29, %34 : tensor<1x4xf32>
    %37 = stablehlo.broadcast_in_dim %29, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<4x1x4xf32>
    %39 = stablehlo.multiply %38, %35 : tensor<4x1x4xf32>
    %40 = stablehlo.reverse %33, dims = [2] : tensor<4x1x4xf32>
    %41 = stablehlo.broadcast_in_dim %12, dims = [1] : (tensor<4xf32>) -> tensor<1x4xf32>
    %42 = stablehlo.broadcast_in_dim %17, dims = [0, 2] : (tensor<4x4xf32>) -> tensor<4x1x4xf32>
    %43 = stablehlo.broadcast_in_dim %41, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<4x1x4xf32>
    %45 = stablehlo.multiply %39, %44 : tensor<4x1x4xf32>
    %46 = stablehlo.broadcast_in_dim %36, dims = [1, 2] : (tensor<1x4xf32>) -> tensor<1x1x4xf32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [0, 1, 2] : (tensor<1x1x4xf32>) -> tensor<4x1x4xf32>
    %48 = stablehlo.multiply %47, %42 : tensor<4x1x4xf32>
    %49 = stablehlo.add %45, %48 : tensor<4x1x4xf32>
    %50 = stablehlo.add %40, %49 : tensor<4x1x4xf32>
    %51 = stablehlo.slice %50 [0:4, 0:1, 0:4] : (tensor<4x1x4xf32>) -> tensor<4x1x4xf32>
    %52 = stablehlo.reshape %51 : (tensor<4x1x4xf32>) -> tensor<4x4xf32>
    %53 = stablehlo.transpose %52, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %54 = stablehlo.slice %53 [0:4, 0:4] : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %54 : tensor<4x4xf32>
  }
}
