// passes: fuse-loops
builtin.module {
  func.func @forward(%a: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
    %0 = "fleet.add"(%a, %b) <{id = "sum", at = "m.py:3:9", var = "out"}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
    %1 = "fleet.add"(%0, %a) <{id = "out", at = "m.py:4:9", var = "out"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %2 = "fleet.reduce_sum"(%1) <{axes = array<i64: 1>, keepdims = false, id = "total", at = "m.py:5:9"}> : (tensor<4x6xf32>) -> tensor<4xf32>
    %3 = "fleet.tanh"(%1) <{id = "t", at = "m.py:6:9"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %4 = "fleet.mul"(%3, %1) <{id = "y", at = "m.py:7:9"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    func.return %4, %2 : tensor<4x6xf32>, tensor<4xf32>
  }
}

// ----- becomes -----
builtin.module {
  func.func @forward(%a: tensor<4x6xf32>, %b: tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>) {
    %0 = "fleet.fused"(%a, %b) <{id = "sum..y", at = "m.py:7:9"}> ({
    ^bb0(%1: tensor<4x6xf32>, %2: tensor<6xf32>):
      %3 = "fleet.add"(%1, %2) <{id = "sum.fused", at = "m.py:3:9", var = "out"}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
      %4 = "fleet.add"(%3, %1) <{id = "out.fused", at = "m.py:4:9", var = "out"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      %5 = "fleet.reduce_sum"(%4) <{axes = array<i64: 1>, keepdims = false, id = "total.fused", at = "m.py:5:9"}> : (tensor<4x6xf32>) -> tensor<4xf32>
      %6 = "fleet.tanh"(%4) <{id = "t.fused", at = "m.py:6:9"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %7 = "fleet.mul"(%6, %4) <{id = "y.fused", at = "m.py:7:9"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      "fleet.yield"(%5, %7) : (tensor<4xf32>, tensor<4x6xf32>) -> ()
    }) : (tensor<4x6xf32>, tensor<6xf32>) -> tuple<tensor<4xf32>, tensor<4x6xf32>>
    %8 = "fleet.element"(%0) <{index = 0 : i64, id = "total", at = "m.py:5:9"}> : (tuple<tensor<4xf32>, tensor<4x6xf32>>) -> tensor<4xf32>
    %9 = "fleet.element"(%0) <{index = 1 : i64, id = "y", at = "m.py:7:9"}> : (tuple<tensor<4xf32>, tensor<4x6xf32>>) -> tensor<4x6xf32>
    func.return %9, %8 : tensor<4x6xf32>, tensor<4xf32>
  }
}
