module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2x8xf32>, %arg1: tensor<8x6xf32>, %arg2: tensor<6x4xf32>) -> (tensor<2x8xf32> {jax.result_info = "result[0]"}, tensor<6x4xf32> {jax.result_info = "result[1]"}) {
    %0 = stablehlo.convert %arg0 : (tensor<2x8xf32>) -> tensor<2x8xbf16>
    %1 = stablehlo.convert %arg1 : (tensor<8x6xf32>) -> tensor<8x6xbf16>
    %2 = stablehlo.convert %arg2 : (tensor<6x4xf32>) -> tensor<6x4xbf16>
    %3 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x8xbf16>, tensor<8x6xbf16>) -> tensor<2x6xbf16>
    %4 = stablehlo.multiply %3, %3 : tensor<2x6xbf16>
    %5 = stablehlo.multiply %4, %3 : tensor<2x6xbf16>
    %6 = stablehlo.multiply %3, %3 : tensor<2x6xbf16>
    %cst = stablehlo.constant dense<3.000000e+00> : tensor<bf16>
    %7 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %8 = stablehlo.multiply %7, %6 : tensor<2x6xbf16>
    %cst_0 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %9 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %10 = stablehlo.multiply %9, %5 : tensor<2x6xbf16>
    %11 = stablehlo.add %3, %10 : tensor<2x6xbf16>
    %cst_1 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %12 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %13 = stablehlo.multiply %12, %11 : tensor<2x6xbf16>
    %14 = stablehlo.tanh %13 : tensor<2x6xbf16>
    %cst_2 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %15 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %16 = stablehlo.subtract %15, %14 : tensor<2x6xbf16>
    %cst_3 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %17 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %18 = stablehlo.add %17, %14 : tensor<2x6xbf16>
    %cst_4 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %19 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %20 = stablehlo.multiply %19, %18 : tensor<2x6xbf16>
    %21 = stablehlo.multiply %3, %20 : tensor<2x6xbf16>
    %22 = stablehlo.multiply %21, %21 : tensor<2x6xbf16>
    %23 = stablehlo.convert %22 : (tensor<2x6xbf16>) -> tensor<2x6xf32>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %24 = stablehlo.reduce(%23 init: %cst_5) applies stablehlo.add across dimensions = [1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<2xf32>
    %25 = stablehlo.broadcast_in_dim %24, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %cst_6 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %26 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %27 = stablehlo.divide %25, %26 : tensor<2x1xf32>
    %28 = stablehlo.convert %27 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %cst_7 = stablehlo.constant dense<1.001360e-05> : tensor<bf16>
    %29 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %30 = stablehlo.add %28, %29 : tensor<2x1xbf16>
    %31 = stablehlo.sqrt %30 : tensor<2x1xbf16>
    %cst_8 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %32 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %33 = stablehlo.divide %32, %31 : tensor<2x1xbf16>
    %34 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x6xbf16>
    %35 = stablehlo.divide %21, %34 : tensor<2x6xbf16>
    %36 = stablehlo.multiply %31, %31 : tensor<2x1xbf16>
    %cst_9 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %37 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %38 = stablehlo.divide %37, %36 : tensor<2x1xbf16>
    %39 = stablehlo.dot_general %35, %2, contracting_dims = [1] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x6xbf16>, tensor<6x4xbf16>) -> tensor<2x4xbf16>
    %cst_10 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %40 = stablehlo.reduce(%39 init: %cst_10) applies stablehlo.maximum across dimensions = [1] : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %cst_11 = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %41 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<bf16>) -> tensor<2xbf16>
    %42 = stablehlo.maximum %41, %40 : tensor<2xbf16>
    %43 = stablehlo.broadcast_in_dim %42, dims = [0] : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %44 = stablehlo.broadcast_in_dim %43, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x4xbf16>
    %45 = stablehlo.subtract %39, %44 : tensor<2x4xbf16>
    %46 = stablehlo.exponential %45 : tensor<2x4xbf16>
    %47 = stablehlo.convert %46 : (tensor<2x4xbf16>) -> tensor<2x4xf32>
    %cst_12 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %48 = stablehlo.reduce(%47 init: %cst_12) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
    %49 = stablehlo.broadcast_in_dim %48, dims = [0] : (tensor<2xf32>) -> tensor<2x1xf32>
    %50 = stablehlo.convert %49 : (tensor<2x1xf32>) -> tensor<2x1xbf16>
    %51 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x4xbf16>
    %52 = stablehlo.divide %46, %51 : tensor<2x4xbf16>
    %53 = stablehlo.multiply %50, %50 : tensor<2x1xbf16>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<bf16>
    %54 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<bf16>) -> tensor<2x1xbf16>
    %55 = stablehlo.divide %54, %53 : tensor<2x1xbf16>
    %cst_14 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %56 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<2x4xf32>
    %57 = stablehlo.convert %56 : (tensor<2x4xf32>) -> tensor<2x4xbf16>
    %58 = stablehlo.divide %57, %52 : tensor<2x4xbf16>
    %59 = stablehlo.broadcast_in_dim %55, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x4xbf16>
    %60 = stablehlo.multiply %58, %59 : tensor<2x4xbf16>
    %61 = stablehlo.multiply %60, %46 : tensor<2x4xbf16>
    %cst_15 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %62 = stablehlo.reduce(%61 init: %cst_15) applies stablehlo.add across dimensions = [1] : (tensor<2x4xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %63 = stablehlo.reshape %62 : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %64 = stablehlo.negate %63 : tensor<2x1xbf16>
    %65 = stablehlo.broadcast_in_dim %50, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x4xbf16>
    %66 = stablehlo.divide %58, %65 : tensor<2x4xbf16>
    %67 = stablehlo.convert %64 : (tensor<2x1xbf16>) -> tensor<2x1xf32>
    %cst_16 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %68 = stablehlo.reduce(%67 init: %cst_16) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
    %69 = stablehlo.broadcast_in_dim %68, dims = [0] : (tensor<2xf32>) -> tensor<2x4xf32>
    %70 = stablehlo.convert %69 : (tensor<2x4xf32>) -> tensor<2x4xbf16>
    %71 = stablehlo.add %66, %70 : tensor<2x4xbf16>
    %72 = stablehlo.multiply %71, %46 : tensor<2x4xbf16>
    %73 = stablehlo.dot_general %72, %35, contracting_dims = [0] x [0], precision = [DEFAULT, DEFAULT] : (tensor<2x4xbf16>, tensor<2x6xbf16>) -> tensor<4x6xbf16>
    %74 = stablehlo.transpose %73, dims = [1, 0] : (tensor<4x6xbf16>) -> tensor<6x4xbf16>
    %75 = stablehlo.dot_general %72, %2, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x4xbf16>, tensor<6x4xbf16>) -> tensor<2x6xbf16>
    %76 = stablehlo.broadcast_in_dim %38, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x6xbf16>
    %77 = stablehlo.multiply %75, %76 : tensor<2x6xbf16>
    %78 = stablehlo.multiply %77, %21 : tensor<2x6xbf16>
    %cst_17 = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
    %79 = stablehlo.reduce(%78 init: %cst_17) applies stablehlo.add across dimensions = [1] : (tensor<2x6xbf16>, tensor<bf16>) -> tensor<2xbf16>
    %80 = stablehlo.reshape %79 : (tensor<2xbf16>) -> tensor<2x1xbf16>
    %81 = stablehlo.negate %80 : tensor<2x1xbf16>
    %82 = stablehlo.broadcast_in_dim %31, dims = [0, 1] : (tensor<2x1xbf16>) -> tensor<2x6xbf16>
    %83 = stablehlo.divide %75, %82 : tensor<2x6xbf16>
    %84 = stablehlo.multiply %81, %33 : tensor<2x1xbf16>
    %85 = stablehlo.convert %84 : (tensor<2x1xbf16>) -> tensor<2x1xf32>
    %cst_18 = stablehlo.constant dense<6.000000e+00> : tensor<f32>
    %86 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<2x1xf32>
    %87 = stablehlo.divide %85, %86 : tensor<2x1xf32>
    %cst_19 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %88 = stablehlo.reduce(%87 init: %cst_19) applies stablehlo.add across dimensions = [1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2xf32>
    %89 = stablehlo.broadcast_in_dim %88, dims = [0] : (tensor<2xf32>) -> tensor<2x6xf32>
    %90 = stablehlo.convert %89 : (tensor<2x6xf32>) -> tensor<2x6xbf16>
    %91 = stablehlo.multiply %21, %90 : tensor<2x6xbf16>
    %92 = stablehlo.add %83, %91 : tensor<2x6xbf16>
    %93 = stablehlo.multiply %90, %21 : tensor<2x6xbf16>
    %94 = stablehlo.add %92, %93 : tensor<2x6xbf16>
    %95 = stablehlo.multiply %3, %94 : tensor<2x6xbf16>
    %96 = stablehlo.multiply %94, %20 : tensor<2x6xbf16>
    %cst_20 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
    %97 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %98 = stablehlo.multiply %97, %95 : tensor<2x6xbf16>
    %99 = stablehlo.multiply %98, %16 : tensor<2x6xbf16>
    %100 = stablehlo.multiply %99, %14 : tensor<2x6xbf16>
    %101 = stablehlo.add %99, %100 : tensor<2x6xbf16>
    %cst_21 = stablehlo.constant dense<7.968750e-01> : tensor<bf16>
    %102 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %103 = stablehlo.multiply %102, %101 : tensor<2x6xbf16>
    %104 = stablehlo.add %96, %103 : tensor<2x6xbf16>
    %cst_22 = stablehlo.constant dense<4.467770e-02> : tensor<bf16>
    %105 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<bf16>) -> tensor<2x6xbf16>
    %106 = stablehlo.multiply %105, %103 : tensor<2x6xbf16>
    %107 = stablehlo.multiply %106, %8 : tensor<2x6xbf16>
    %108 = stablehlo.add %104, %107 : tensor<2x6xbf16>
    %109 = stablehlo.dot_general %108, %1, contracting_dims = [1] x [1], precision = [DEFAULT, DEFAULT] : (tensor<2x6xbf16>, tensor<8x6xbf16>) -> tensor<2x8xbf16>
    %110 = stablehlo.convert %74 : (tensor<6x4xbf16>) -> tensor<6x4xf32>
    %111 = stablehlo.convert %109 : (tensor<2x8xbf16>) -> tensor<2x8xf32>
    return %111, %110 : tensor<2x8xf32>, tensor<6x4xf32>
  }
}
