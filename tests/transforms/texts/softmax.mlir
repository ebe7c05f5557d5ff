// passes: raise-softmax
func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %m = "fleet.reduce_max"(%x) <{axes = array<i64: 1>, keepdims = true, id = "m"}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %d = "fleet.sub"(%x, %m) <{id = "d"}> : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  %e = "fleet.exp"(%d) <{id = "e"}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = "fleet.reduce_sum"(%e) <{axes = array<i64: 1>, keepdims = true, id = "s"}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
  %p = "fleet.div"(%e, %s) <{id = "p", var = "p", at = "m.py:7:4"}> : (tensor<4x8xf32>, tensor<4x1xf32>) -> tensor<4x8xf32>
  func.return %p : tensor<4x8xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %p = "fleet.softmax"(%x) <{axis = 1 : i64, id = "p", var = "p", at = "m.py:7:4", covers = ["m", "d", "e", "s", "p"]}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
    func.return %p : tensor<4x8xf32>
  }
}
