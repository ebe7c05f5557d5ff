module @jit__lambda attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<9xf32>) -> (tensor<9xf32> {jax.result_info = "result[0]"}, tensor<9xf32> {jax.result_info = "result[1]"}, tensor<9xf32> {jax.result_info = "result[2]"}, tensor<9xf32> {jax.result_info = "result[3]"}) {
    %0 = chlo.lgamma %arg0 : tensor<9xf32> -> tensor<9xf32>
    %1 = chlo.digamma %arg0 : tensor<9xf32> -> tensor<9xf32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %3 = stablehlo.compare LT, %arg0, %2, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_0 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %4 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %5 = stablehlo.add %arg0, %4 : tensor<9xf32>
    %6 = chlo.lgamma %5 : tensor<9xf32> -> tensor<9xf32>
    %7 = stablehlo.exponential %6 : tensor<9xf32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %8 = call @_where(%3, %c, %7) : (tensor<9xi1>, tensor<i32>, tensor<9xf32>) -> tensor<9xf32>
    %cst_1 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<3.000000e-01> : tensor<f32>
    %9 = stablehlo.broadcast_in_dim %cst_1, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %10 = stablehlo.broadcast_in_dim %cst_2, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %cst_3 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %11 = stablehlo.broadcast_in_dim %cst_3, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %12 = stablehlo.compare EQ, %arg0, %11, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_4 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %13 = stablehlo.broadcast_in_dim %cst_4, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %14 = stablehlo.compare EQ, %9, %13, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %15 = stablehlo.or %12, %14 : tensor<9xi1>
    %cst_5 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %16 = stablehlo.broadcast_in_dim %cst_5, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %17 = stablehlo.compare EQ, %9, %16, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_6 = stablehlo.constant dense<0x7F800000> : tensor<f32>
    %18 = stablehlo.broadcast_in_dim %cst_6, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %19 = stablehlo.compare EQ, %arg0, %18, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %20 = stablehlo.or %17, %19 : tensor<9xi1>
    %cst_7 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %21 = stablehlo.broadcast_in_dim %cst_7, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %22 = stablehlo.compare EQ, %10, %21, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_8 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %23 = stablehlo.broadcast_in_dim %cst_8, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %24 = stablehlo.compare EQ, %10, %23, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %25 = stablehlo.not %22 : tensor<9xi1>
    %26 = stablehlo.not %24 : tensor<9xi1>
    %27 = stablehlo.compare NE, %arg0, %arg0, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %28 = stablehlo.compare NE, %9, %9, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %29 = stablehlo.or %27, %28 : tensor<9xi1>
    %30 = stablehlo.compare NE, %10, %10, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %31 = stablehlo.or %29, %30 : tensor<9xi1>
    %32 = stablehlo.and %20, %26 : tensor<9xi1>
    %33 = stablehlo.and %15, %22 : tensor<9xi1>
    %34 = stablehlo.or %32, %33 : tensor<9xi1>
    %35 = stablehlo.and %15, %25 : tensor<9xi1>
    %36 = stablehlo.and %20, %24 : tensor<9xi1>
    %37 = stablehlo.or %35, %36 : tensor<9xi1>
    %cst_9 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %38 = stablehlo.broadcast_in_dim %cst_9, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %39 = stablehlo.compare LT, %arg0, %38, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_10 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %40 = stablehlo.broadcast_in_dim %cst_10, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %41 = stablehlo.compare LT, %9, %40, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %42 = stablehlo.or %39, %41 : tensor<9xi1>
    %cst_11 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %43 = stablehlo.broadcast_in_dim %cst_11, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %44 = stablehlo.compare LT, %10, %43, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %45 = stablehlo.or %42, %44 : tensor<9xi1>
    %cst_12 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %46 = stablehlo.broadcast_in_dim %cst_12, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %47 = stablehlo.compare GT, %10, %46, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %48 = stablehlo.or %45, %47 : tensor<9xi1>
    %49 = stablehlo.and %15, %20 : tensor<9xi1>
    %50 = stablehlo.or %49, %31 : tensor<9xi1>
    %51 = stablehlo.or %48, %50 : tensor<9xi1>
    %cst_13 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %52 = stablehlo.broadcast_in_dim %cst_13, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %53 = stablehlo.add %arg0, %52 : tensor<9xf32>
    %54 = stablehlo.add %arg0, %9 : tensor<9xf32>
    %cst_14 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
    %55 = stablehlo.broadcast_in_dim %cst_14, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %56 = stablehlo.add %54, %55 : tensor<9xf32>
    %57 = stablehlo.divide %53, %56 : tensor<9xf32>
    %58 = stablehlo.compare LT, %10, %57, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %59 = stablehlo.select %58, %arg0, %9 : tensor<9xi1>, tensor<9xf32>
    %60 = stablehlo.select %58, %9, %arg0 : tensor<9xi1>, tensor<9xf32>
    %cst_15 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %61 = stablehlo.broadcast_in_dim %cst_15, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %62 = stablehlo.subtract %61, %10 : tensor<9xf32>
    %63 = stablehlo.select %58, %10, %62 : tensor<9xi1>, tensor<9xf32>
    %c_16 = stablehlo.constant dense<0> : tensor<i32>
    %64 = stablehlo.broadcast_in_dim %c_16, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %c_17 = stablehlo.constant dense<0> : tensor<i32>
    %65 = stablehlo.broadcast_in_dim %c_17, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %66 = stablehlo.compare EQ, %64, %65, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %cst_18 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %67 = stablehlo.broadcast_in_dim %cst_18, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %cst_19 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %68 = stablehlo.broadcast_in_dim %cst_19, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %69 = stablehlo.select %66, %67, %68 : tensor<9xi1>, tensor<9xf32>
    %70 = stablehlo.abs %69 : tensor<9xf32>
    %cst_20 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
    %71 = stablehlo.broadcast_in_dim %cst_20, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %72 = stablehlo.compare LT, %70, %71, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %cst_21 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
    %73 = stablehlo.broadcast_in_dim %cst_21, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %74 = stablehlo.select %72, %73, %69 : tensor<9xi1>, tensor<9xf32>
    %cst_22 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %75 = stablehlo.broadcast_in_dim %cst_22, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %c_23 = stablehlo.constant dense<1> : tensor<i32>
    %c_24 = stablehlo.constant dense<true> : tensor<i1>
    %76:8 = stablehlo.while(%iterArg = %59, %iterArg_30 = %60, %iterArg_31 = %63, %iterArg_32 = %c_23, %iterArg_33 = %c_24, %iterArg_34 = %74, %iterArg_35 = %75, %iterArg_36 = %74) : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<i32>, tensor<i1>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
    cond {
      %c_37 = stablehlo.constant dense<200> : tensor<i32>
      %110 = stablehlo.compare LT, %iterArg_32, %c_37, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      %111 = stablehlo.and %110, %iterArg_33 : tensor<i1>
      stablehlo.return %111 : tensor<i1>
    } do {
      %110 = stablehlo.broadcast_in_dim %iterArg_32, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %c_37 = stablehlo.constant dense<2> : tensor<i32>
      %111 = stablehlo.broadcast_in_dim %c_37, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %112 = func.call @remainder(%110, %111) : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
      %c_38 = stablehlo.constant dense<0> : tensor<i32>
      %113 = stablehlo.broadcast_in_dim %c_38, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %114 = stablehlo.compare EQ, %112, %113, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
      %c_39 = stablehlo.constant dense<1> : tensor<i32>
      %115 = stablehlo.broadcast_in_dim %c_39, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %116 = stablehlo.compare EQ, %110, %115, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
      %c_40 = stablehlo.constant dense<1> : tensor<i32>
      %117 = stablehlo.broadcast_in_dim %c_40, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %118 = stablehlo.subtract %110, %117 : tensor<9xi32>
      %c_41 = stablehlo.constant dense<2> : tensor<i32>
      %119 = stablehlo.broadcast_in_dim %c_41, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %120 = func.call @floor_divide(%118, %119) : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
      %c_42 = stablehlo.constant dense<0> : tensor<i32>
      %121 = stablehlo.broadcast_in_dim %c_42, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %122 = stablehlo.compare EQ, %120, %121, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
      %123 = stablehlo.convert %120 : (tensor<9xi32>) -> tensor<9xf32>
      %cst_43 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %124 = stablehlo.broadcast_in_dim %cst_43, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %cst_44 = stablehlo.constant dense<2.000000e+00> : tensor<f32>
      %125 = stablehlo.broadcast_in_dim %cst_44, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %126 = stablehlo.add %iterArg, %iterArg_30 : tensor<9xf32>
      %127 = stablehlo.negate %126 : tensor<9xf32>
      %128 = stablehlo.multiply %127, %iterArg_31 : tensor<9xf32>
      %129 = stablehlo.add %iterArg, %124 : tensor<9xf32>
      %130 = stablehlo.divide %128, %129 : tensor<9xf32>
      %131 = stablehlo.add %iterArg, %123 : tensor<9xf32>
      %132 = stablehlo.negate %131 : tensor<9xf32>
      %133 = stablehlo.add %iterArg, %iterArg_30 : tensor<9xf32>
      %134 = stablehlo.add %133, %123 : tensor<9xf32>
      %135 = stablehlo.multiply %132, %134 : tensor<9xf32>
      %136 = stablehlo.multiply %135, %iterArg_31 : tensor<9xf32>
      %137 = stablehlo.multiply %125, %123 : tensor<9xf32>
      %138 = stablehlo.add %iterArg, %137 : tensor<9xf32>
      %139 = stablehlo.multiply %125, %123 : tensor<9xf32>
      %140 = stablehlo.add %iterArg, %139 : tensor<9xf32>
      %141 = stablehlo.add %140, %124 : tensor<9xf32>
      %142 = stablehlo.multiply %138, %141 : tensor<9xf32>
      %143 = stablehlo.divide %136, %142 : tensor<9xf32>
      %144 = stablehlo.select %122, %130, %143 : tensor<9xi1>, tensor<9xf32>
      %145 = stablehlo.subtract %iterArg_30, %123 : tensor<9xf32>
      %146 = stablehlo.multiply %123, %145 : tensor<9xf32>
      %147 = stablehlo.multiply %146, %iterArg_31 : tensor<9xf32>
      %148 = stablehlo.multiply %125, %123 : tensor<9xf32>
      %149 = stablehlo.add %iterArg, %148 : tensor<9xf32>
      %150 = stablehlo.subtract %149, %124 : tensor<9xf32>
      %151 = stablehlo.multiply %125, %123 : tensor<9xf32>
      %152 = stablehlo.add %iterArg, %151 : tensor<9xf32>
      %153 = stablehlo.multiply %150, %152 : tensor<9xf32>
      %154 = stablehlo.divide %147, %153 : tensor<9xf32>
      %cst_45 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %155 = stablehlo.broadcast_in_dim %cst_45, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %156 = stablehlo.select %114, %144, %154 : tensor<9xi1>, tensor<9xf32>
      %157 = stablehlo.select %116, %155, %156 : tensor<9xi1>, tensor<9xf32>
      %158 = stablehlo.broadcast_in_dim %iterArg_32, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %c_46 = stablehlo.constant dense<0> : tensor<i32>
      %159 = stablehlo.broadcast_in_dim %c_46, dims = [] : (tensor<i32>) -> tensor<9xi32>
      %160 = stablehlo.compare EQ, %158, %159, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
      %cst_47 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
      %161 = stablehlo.broadcast_in_dim %cst_47, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %cst_48 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %162 = stablehlo.broadcast_in_dim %cst_48, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %163 = stablehlo.select %160, %161, %162 : tensor<9xi1>, tensor<9xf32>
      %164 = stablehlo.divide %157, %iterArg_34 : tensor<9xf32>
      %165 = stablehlo.add %163, %164 : tensor<9xf32>
      %cst_49 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
      %166 = stablehlo.broadcast_in_dim %cst_49, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %167 = stablehlo.abs %165 : tensor<9xf32>
      %168 = stablehlo.compare LT, %167, %166, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
      %169 = stablehlo.select %168, %166, %165 : tensor<9xi1>, tensor<9xf32>
      %170 = stablehlo.multiply %157, %iterArg_35 : tensor<9xf32>
      %171 = stablehlo.add %163, %170 : tensor<9xf32>
      %172 = stablehlo.abs %171 : tensor<9xf32>
      %173 = stablehlo.compare LT, %172, %166, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
      %174 = stablehlo.select %173, %166, %171 : tensor<9xi1>, tensor<9xf32>
      %cst_50 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %175 = stablehlo.broadcast_in_dim %cst_50, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %176 = stablehlo.divide %175, %174 : tensor<9xf32>
      %177 = stablehlo.multiply %169, %176 : tensor<9xf32>
      %178 = stablehlo.multiply %iterArg_36, %177 : tensor<9xf32>
      %c_51 = stablehlo.constant dense<1> : tensor<i32>
      %179 = stablehlo.add %iterArg_32, %c_51 : tensor<i32>
      %cst_52 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
      %180 = stablehlo.broadcast_in_dim %cst_52, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %181 = stablehlo.subtract %177, %180 : tensor<9xf32>
      %182 = stablehlo.abs %181 : tensor<9xf32>
      %cst_53 = stablehlo.constant dense<5.96046448E-8> : tensor<f32>
      %183 = stablehlo.broadcast_in_dim %cst_53, dims = [] : (tensor<f32>) -> tensor<9xf32>
      %184 = stablehlo.compare GE, %182, %183, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
      %c_54 = stablehlo.constant dense<false> : tensor<i1>
      %185 = stablehlo.reduce(%184 init: %c_54) applies stablehlo.or across dimensions = [0] : (tensor<9xi1>, tensor<i1>) -> tensor<i1>
      stablehlo.return %iterArg, %iterArg_30, %iterArg_31, %179, %185, %169, %176, %178 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<i32>, tensor<i1>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
    }
    %77 = chlo.lgamma %60 : tensor<9xf32> -> tensor<9xf32>
    %78 = stablehlo.add %59, %60 : tensor<9xf32>
    %79 = chlo.lgamma %78 : tensor<9xf32> -> tensor<9xf32>
    %80 = stablehlo.subtract %77, %79 : tensor<9xf32>
    %81 = chlo.lgamma %59 : tensor<9xf32> -> tensor<9xf32>
    %82 = stablehlo.add %81, %80 : tensor<9xf32>
    %cst_25 = stablehlo.constant dense<2.3509887E-38> : tensor<f32>
    %83 = stablehlo.broadcast_in_dim %cst_25, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %84 = stablehlo.compare LT, %59, %83, FLOAT : (tensor<9xf32>, tensor<9xf32>) -> tensor<9xi1>
    %85 = stablehlo.negate %63 : tensor<9xf32>
    %86 = stablehlo.log_plus_one %85 : tensor<9xf32>
    %87 = stablehlo.multiply %86, %60 : tensor<9xf32>
    %88 = stablehlo.subtract %87, %80 : tensor<9xf32>
    %89 = stablehlo.exponential %88 : tensor<9xf32>
    %90 = stablehlo.log %63 : tensor<9xf32>
    %91 = stablehlo.multiply %90, %59 : tensor<9xf32>
    %92 = stablehlo.negate %63 : tensor<9xf32>
    %93 = stablehlo.log_plus_one %92 : tensor<9xf32>
    %94 = stablehlo.multiply %93, %60 : tensor<9xf32>
    %95 = stablehlo.add %91, %94 : tensor<9xf32>
    %96 = stablehlo.subtract %95, %82 : tensor<9xf32>
    %97 = stablehlo.exponential %96 : tensor<9xf32>
    %98 = stablehlo.divide %97, %59 : tensor<9xf32>
    %99 = stablehlo.select %84, %89, %98 : tensor<9xi1>, tensor<9xf32>
    %100 = stablehlo.multiply %76#7, %99 : tensor<9xf32>
    %cst_26 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %101 = stablehlo.broadcast_in_dim %cst_26, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %102 = stablehlo.subtract %101, %100 : tensor<9xf32>
    %103 = stablehlo.select %58, %100, %102 : tensor<9xi1>, tensor<9xf32>
    %cst_27 = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %104 = stablehlo.broadcast_in_dim %cst_27, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %105 = stablehlo.select %34, %104, %103 : tensor<9xi1>, tensor<9xf32>
    %cst_28 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %106 = stablehlo.broadcast_in_dim %cst_28, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %107 = stablehlo.select %37, %106, %105 : tensor<9xi1>, tensor<9xf32>
    %cst_29 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %108 = stablehlo.broadcast_in_dim %cst_29, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %109 = stablehlo.select %51, %108, %107 : tensor<9xi1>, tensor<9xf32>
    return %0, %1, %8, %109 : tensor<9xf32>, tensor<9xf32>, tensor<9xf32>, tensor<9xf32>
  }
  func.func private @_where(%arg0: tensor<9xi1>, %arg1: tensor<i32>, %arg2: tensor<9xf32>) -> tensor<9xf32> {
    %0 = stablehlo.convert %arg1 : (tensor<i32>) -> tensor<f32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<9xf32>
    %2 = stablehlo.select %arg0, %1, %arg2 : tensor<9xi1>, tensor<9xf32>
    return %2 : tensor<9xf32>
  }
  func.func private @remainder(%arg0: tensor<9xi32>, %arg1: tensor<9xi32>) -> tensor<9xi32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %1 = stablehlo.compare EQ, %arg1, %0, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %2 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %3 = call @_where_0(%1, %2, %arg1) : (tensor<9xi1>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    %4 = stablehlo.remainder %arg0, %3 : tensor<9xi32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_2 = stablehlo.constant dense<0> : tensor<i32>
    %7 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %8 = stablehlo.compare LT, %4, %7, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_3 = stablehlo.constant dense<0> : tensor<i32>
    %9 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %10 = stablehlo.compare LT, %3, %9, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %11 = stablehlo.compare NE, %8, %10, UNSIGNED : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
    %12 = stablehlo.and %11, %6 : tensor<9xi1>
    %13 = stablehlo.add %4, %3 : tensor<9xi32>
    %14 = stablehlo.select %12, %13, %4 : tensor<9xi1>, tensor<9xi32>
    return %14 : tensor<9xi32>
  }
  func.func private @_where_0(%arg0: tensor<9xi1>, %arg1: tensor<9xi32>, %arg2: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<9xi1>, tensor<9xi32>
    return %0 : tensor<9xi32>
  }
  func.func private @floor_divide(%arg0: tensor<9xi32>, %arg1: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.divide %arg0, %arg1 : tensor<9xi32>
    %1 = stablehlo.sign %arg0 : tensor<9xi32>
    %2 = stablehlo.sign %arg1 : tensor<9xi32>
    %3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %4 = stablehlo.remainder %arg0, %arg1 : tensor<9xi32>
    %c = stablehlo.constant dense<0> : tensor<i32>
    %5 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %6 = stablehlo.compare NE, %4, %5, SIGNED : (tensor<9xi32>, tensor<9xi32>) -> tensor<9xi1>
    %c_0 = stablehlo.constant dense<false> : tensor<i1>
    %7 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<i1>) -> tensor<9xi1>
    %8 = stablehlo.compare NE, %3, %7, UNSIGNED : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
    %9 = stablehlo.convert %8 : tensor<9xi1>
    %c_1 = stablehlo.constant dense<false> : tensor<i1>
    %10 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i1>) -> tensor<9xi1>
    %11 = stablehlo.compare NE, %6, %10, UNSIGNED : (tensor<9xi1>, tensor<9xi1>) -> tensor<9xi1>
    %12 = stablehlo.convert %11 : tensor<9xi1>
    %13 = stablehlo.and %9, %12 : tensor<9xi1>
    %c_2 = stablehlo.constant dense<1> : tensor<i32>
    %14 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<i32>) -> tensor<9xi32>
    %15 = stablehlo.subtract %0, %14 : tensor<9xi32>
    %16 = call @_where_1(%13, %15, %0) : (tensor<9xi1>, tensor<9xi32>, tensor<9xi32>) -> tensor<9xi32>
    return %16 : tensor<9xi32>
  }
  func.func private @_where_1(%arg0: tensor<9xi1>, %arg1: tensor<9xi32>, %arg2: tensor<9xi32>) -> tensor<9xi32> {
    %0 = stablehlo.select %arg0, %arg1, %arg2 : tensor<9xi1>, tensor<9xi32>
    return %0 : tensor<9xi32>
  }
}
