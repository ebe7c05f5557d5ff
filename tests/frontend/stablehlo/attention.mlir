module @jit_attention attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<6x8xf32>, %arg1: tensor<8x24xf32>) -> (tensor<6x8xf32> {jax.result_info = "result"}) {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<6x8xf32>, tensor<8x24xf32>) -> tensor<6x24xf32>
    %1 = stablehlo.slice %0 [0:6, 0:8] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %2 = stablehlo.slice %0 [0:6, 8:16] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %3 = stablehlo.slice %0 [0:6, 16:24] : (tensor<6x24xf32>) -> tensor<6x8xf32>
    %4 = stablehlo.iota dim = 0 : tensor<6xf32>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<6xf32>) -> tensor<6x1xf32>
    %6 = stablehlo.iota dim = 0 : tensor<2xi32>
    %c = stablehlo.constant dense<2> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %8 = stablehlo.multiply %7, %6 : tensor<2xi32>
    %c_0 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<2xi32>
    %10 = stablehlo.add %9, %8 : tensor<2xi32>
    %11 = stablehlo.convert %10 : (tensor<2xi32>) -> tensor<2xf32>
    %cst = stablehlo.constant dense<4.000000e+00> : tensor<f32>
    %12 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %13 = stablehlo.divide %11, %12 : tensor<2xf32>
    %cst_1 = stablehlo.constant dense<1.000000e+02> : tensor<f32>
    %14 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<2xf32>
    %15 = stablehlo.power %14, %13 : tensor<2xf32>
    %16 = stablehlo.broadcast_in_dim %15, dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
    %17 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<6x1xf32>) -> tensor<6x2xf32>
    %18 = stablehlo.broadcast_in_dim %16, dims = [0, 1] : (tensor<1x2xf32>) -> tensor<6x2xf32>
    %19 = stablehlo.divide %17, %18 : tensor<6x2xf32>
    %20 = stablehlo.reshape %1 : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %21 = stablehlo.transpose %20, dims = [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
    %22 = stablehlo.slice %21 [0:2, 0:6, 0:4:2] : (tensor<2x6x4xf32>) -> tensor<2x6x2xf32>
    %23 = stablehlo.slice %21 [0:2, 0:6, 1:4:2] : (tensor<2x6x4xf32>) -> tensor<2x6x2xf32>
    %24 = stablehlo.cosine %19 : tensor<6x2xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %26 = stablehlo.broadcast_in_dim %25, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %27 = stablehlo.multiply %22, %26 : tensor<2x6x2xf32>
    %28 = stablehlo.sine %19 : tensor<6x2xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %30 = stablehlo.broadcast_in_dim %29, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %31 = stablehlo.multiply %23, %30 : tensor<2x6x2xf32>
    %32 = stablehlo.subtract %27, %31 : tensor<2x6x2xf32>
    %33 = stablehlo.sine %19 : tensor<6x2xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %35 = stablehlo.broadcast_in_dim %34, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %36 = stablehlo.multiply %22, %35 : tensor<2x6x2xf32>
    %37 = stablehlo.cosine %19 : tensor<6x2xf32>
    %38 = stablehlo.broadcast_in_dim %37, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %39 = stablehlo.broadcast_in_dim %38, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %40 = stablehlo.multiply %23, %39 : tensor<2x6x2xf32>
    %41 = stablehlo.add %36, %40 : tensor<2x6x2xf32>
    %42 = stablehlo.broadcast_in_dim %32, dims = [0, 1, 2] : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %43 = stablehlo.broadcast_in_dim %41, dims = [0, 1, 2] : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %44 = stablehlo.concatenate %42, %43, dim = 3 : (tensor<2x6x2x1xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
    %45 = stablehlo.reshape %44 : (tensor<2x6x2x2xf32>) -> tensor<2x6x4xf32>
    %46 = stablehlo.reshape %2 : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %47 = stablehlo.transpose %46, dims = [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
    %48 = stablehlo.slice %47 [0:2, 0:6, 0:4:2] : (tensor<2x6x4xf32>) -> tensor<2x6x2xf32>
    %49 = stablehlo.slice %47 [0:2, 0:6, 1:4:2] : (tensor<2x6x4xf32>) -> tensor<2x6x2xf32>
    %50 = stablehlo.cosine %19 : tensor<6x2xf32>
    %51 = stablehlo.broadcast_in_dim %50, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %52 = stablehlo.broadcast_in_dim %51, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %53 = stablehlo.multiply %48, %52 : tensor<2x6x2xf32>
    %54 = stablehlo.sine %19 : tensor<6x2xf32>
    %55 = stablehlo.broadcast_in_dim %54, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %56 = stablehlo.broadcast_in_dim %55, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %57 = stablehlo.multiply %49, %56 : tensor<2x6x2xf32>
    %58 = stablehlo.subtract %53, %57 : tensor<2x6x2xf32>
    %59 = stablehlo.sine %19 : tensor<6x2xf32>
    %60 = stablehlo.broadcast_in_dim %59, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %61 = stablehlo.broadcast_in_dim %60, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %62 = stablehlo.multiply %48, %61 : tensor<2x6x2xf32>
    %63 = stablehlo.cosine %19 : tensor<6x2xf32>
    %64 = stablehlo.broadcast_in_dim %63, dims = [1, 2] : (tensor<6x2xf32>) -> tensor<1x6x2xf32>
    %65 = stablehlo.broadcast_in_dim %64, dims = [0, 1, 2] : (tensor<1x6x2xf32>) -> tensor<2x6x2xf32>
    %66 = stablehlo.multiply %49, %65 : tensor<2x6x2xf32>
    %67 = stablehlo.add %62, %66 : tensor<2x6x2xf32>
    %68 = stablehlo.broadcast_in_dim %58, dims = [0, 1, 2] : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %69 = stablehlo.broadcast_in_dim %67, dims = [0, 1, 2] : (tensor<2x6x2xf32>) -> tensor<2x6x2x1xf32>
    %70 = stablehlo.concatenate %68, %69, dim = 3 : (tensor<2x6x2x1xf32>, tensor<2x6x2x1xf32>) -> tensor<2x6x2x2xf32>
    %71 = stablehlo.reshape %70 : (tensor<2x6x2x2xf32>) -> tensor<2x6x4xf32>
    %72 = stablehlo.dot_general %45, %71, batching_dims = [0] x [0], contracting_dims = [2] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x4xf32>, tensor<2x6x4xf32>) -> tensor<2x6x6xf32>
    %cst_2 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<2x6x6xf32>
    %74 = stablehlo.divide %72, %73 : tensor<2x6x6xf32>
    %c_3 = stablehlo.constant dense<true> : tensor<i1>
    %75 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i1>) -> tensor<6x6xi1>
    %76 = call @tril(%75) : (tensor<6x6xi1>) -> tensor<6x6xi1>
    %cst_4 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %77 = call @_where(%76, %74, %cst_4) : (tensor<6x6xi1>, tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6x6xf32>
    %cst_5 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %78 = stablehlo.reduce(%77 init: %cst_5) applies stablehlo.maximum across dimensions = [2] : (tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %cst_6 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %79 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x6xf32>
    %80 = stablehlo.maximum %79, %78 : tensor<2x6xf32>
    %81 = stablehlo.broadcast_in_dim %80, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %82 = stablehlo.broadcast_in_dim %81, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x6xf32>
    %83 = stablehlo.subtract %77, %82 : tensor<2x6x6xf32>
    %84 = stablehlo.exponential %83 : tensor<2x6x6xf32>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %85 = stablehlo.reduce(%84 init: %cst_7) applies stablehlo.add across dimensions = [2] : (tensor<2x6x6xf32>, tensor<f32>) -> tensor<2x6xf32>
    %86 = stablehlo.broadcast_in_dim %85, dims = [0, 1] : (tensor<2x6xf32>) -> tensor<2x6x1xf32>
    %87 = stablehlo.broadcast_in_dim %86, dims = [0, 1, 2] : (tensor<2x6x1xf32>) -> tensor<2x6x6xf32>
    %88 = stablehlo.divide %84, %87 : tensor<2x6x6xf32>
    %89 = stablehlo.reshape %3 : (tensor<6x8xf32>) -> tensor<6x2x4xf32>
    %90 = stablehlo.transpose %89, dims = [1, 0, 2] : (tensor<6x2x4xf32>) -> tensor<2x6x4xf32>
    %91 = stablehlo.dot_general %90, %88, batching_dims = [0] x [0], contracting_dims = [1] x [2], precision = [DEFAULT, DEFAULT] : (tensor<2x6x4xf32>, tensor<2x6x6xf32>) -> tensor<2x4x6xf32>
    %92 = stablehlo.transpose %91, dims = [2, 0, 1] : (tensor<2x4x6xf32>) -> tensor<6x2x4xf32>
    %93 = stablehlo.reshape %92 : (tensor<6x2x4xf32>) -> tensor<6x8xf32>
    return %93 : tensor<6x8xf32>
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
  func.func private @_where(%arg0: tensor<6x6xi1>, %arg1: tensor<2x6x6xf32>, %arg2: tensor<f32>) -> tensor<2x6x6xf32> {
    %0 = stablehlo.convert %arg2 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<6x6xi1>) -> tensor<2x6x6xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x6x6xf32>
    %3 = stablehlo.select %1, %arg1, %2 : tensor<2x6x6xi1>, tensor<2x6x6xf32>
    return %3 : tensor<2x6x6xf32>
  }
}
