// passes: raise-softmax,raise-norm,dce
func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %y: tensor<4x?xf32>) -> (tensor<?x8xf32>, tensor<4x?xf32>) {
  %eps = "fleet.constant"() <{value = 1.0e-5 : f32, id = "eps"}> : () -> f32
  %m = "fleet.mean"(%x) <{axes = array<i64: 1>, keepdims = true, id = "m"}> : (tensor<?x8xf32>) -> tensor<?x1xf32>
  %v = "fleet.var"(%x) <{axes = array<i64: 1>, keepdims = true, id = "v"}> : (tensor<?x8xf32>) -> tensor<?x1xf32>
  %c = "fleet.sub"(%x, %m) <{id = "c"}> : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %w = "fleet.add"(%v, %eps) <{id = "w"}> : (tensor<?x1xf32>, f32) -> tensor<?x1xf32>
  %r = "fleet.rsqrt"(%w) <{id = "r"}> : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %n = "fleet.mul"(%c, %r) <{id = "n"}> : (tensor<?x8xf32>, tensor<?x1xf32>) -> tensor<?x8xf32>
  %s = "fleet.mul"(%n, %g) <{id = "s"}> : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %l = "fleet.add"(%s, %b) <{id = "l"}> : (tensor<?x8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
  %e = "fleet.exp"(%y) <{id = "e"}> : (tensor<4x?xf32>) -> tensor<4x?xf32>
  %t = "fleet.reduce_sum"(%e) <{axes = array<i64: 1>, keepdims = true, id = "t"}> : (tensor<4x?xf32>) -> tensor<4x1xf32>
  %p = "fleet.div"(%e, %t) <{id = "p"}> : (tensor<4x?xf32>, tensor<4x1xf32>) -> tensor<4x?xf32>
  func.return %l, %p : tensor<?x8xf32>, tensor<4x?xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<?x8xf32>, %g: tensor<8xf32>, %b: tensor<8xf32>, %y: tensor<4x?xf32>) -> (tensor<?x8xf32>, tensor<4x?xf32>) {
    %l = "fleet.layer_norm"(%x, %g, %b) <{axis = -1 : i64, eps = 9.9999997473787516e-06 : f64, id = "l", covers = ["m", "v", "c", "w", "r", "n", "s", "l"]}> : (tensor<?x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<?x8xf32>
    %p = "fleet.softmax"(%y) <{axis = 1 : i64, id = "p", covers = ["e", "t", "p"]}> : (tensor<4x?xf32>) -> tensor<4x?xf32>
    func.return %l, %p : tensor<?x8xf32>, tensor<4x?xf32>
  }
}
