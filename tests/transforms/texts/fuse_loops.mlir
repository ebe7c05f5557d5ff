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
    %0 = "fleet.fused"(%a, %b) <{id = "sum..out", at = "m.py:4:9"}> ({
    ^bb0(%1: tensor<4x6xf32>, %2: tensor<6xf32>):
      %3 = "fleet.add"(%1, %2) <{id = "sum.fused", at = "m.py:3:9", var = "out"}> : (tensor<4x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
      %4 = "fleet.add"(%3, %1) <{id = "out.fused", at = "m.py:4:9", var = "out"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      "fleet.yield"(%4) : (tensor<4x6xf32>) -> ()
    }) : (tensor<4x6xf32>, tensor<6xf32>) -> tuple<tensor<4x6xf32>>
    %5 = "fleet.element"(%0) <{index = 0 : i64, id = "out", var = "out", at = "m.py:4:9"}> : (tuple<tensor<4x6xf32>>) -> tensor<4x6xf32>
    %6 = "fleet.reduce_sum"(%5) <{axes = array<i64: 1>, keepdims = false, id = "total", at = "m.py:5:9"}> : (tensor<4x6xf32>) -> tensor<4xf32>
    %7 = "fleet.fused"(%5) <{id = "t..y", at = "m.py:7:9"}> ({
    ^bb0(%8: tensor<4x6xf32>):
      %9 = "fleet.tanh"(%8) <{id = "t.fused", at = "m.py:6:9"}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %10 = "fleet.mul"(%9, %8) <{id = "y.fused", at = "m.py:7:9"}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
      "fleet.yield"(%10) : (tensor<4x6xf32>) -> ()
    }) : (tensor<4x6xf32>) -> tuple<tensor<4x6xf32>>
    %11 = "fleet.element"(%7) <{index = 0 : i64, id = "y", at = "m.py:7:9"}> : (tuple<tensor<4x6xf32>>) -> tensor<4x6xf32>
    func.return %11, %6 : tensor<4x6xf32>, tensor<4xf32>
  }
}
