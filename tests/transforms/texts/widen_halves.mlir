// passes: widen-halves
func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x2xf16>, %n: tensor<2xf32>) -> (tensor<2x4xf16>, tensor<4x2xi1>) {
  %h = "fleet.matmul"(%x, %w) <{id = "h", var = "h"}> : (tensor<4x8xf16>, tensor<8x2xf16>) -> tensor<4x2xf16>
  %c = "fleet.constant"() <{value = 1.000000e-01 : f64, id = "c"}> : () -> f64
  %m = "fleet.maximum"(%h, %c) <{id = "m", at = "m.py:7:4"}> : (tensor<4x2xf16>, f64) -> tensor<4x2xf16>
  %t = "fleet.transpose"(%m) <{permutation = array<i64: 1, 0>, id = "t"}> : (tensor<4x2xf16>) -> tensor<2x4xf16>
  %g = "fleet.greater"(%m, %n) <{id = "g"}> : (tensor<4x2xf16>, tensor<2xf32>) -> tensor<4x2xi1>
  func.return %t, %g : tensor<2x4xf16>, tensor<4x2xi1>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<4x8xf16>, %w: tensor<8x2xf16>, %n: tensor<2xf32>) -> (tensor<2x4xf16>, tensor<4x2xi1>) {
    %0 = "fleet.cast"(%x) <{id = "h.operand"}> : (tensor<4x8xf16>) -> tensor<4x8xf32>
    %1 = "fleet.cast"(%w) <{id = "h.operand.1"}> : (tensor<8x2xf16>) -> tensor<8x2xf32>
    %2 = "fleet.matmul"(%0, %1) <{id = "h.wide"}> : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
    %h = "fleet.cast"(%2) <{id = "h", var = "h"}> : (tensor<4x2xf32>) -> tensor<4x2xf16>
    %c = "fleet.constant"() <{value = 1.000000e-01 : f64, id = "c"}> : () -> f64
    %3 = "fleet.cast"(%h) <{id = "m.operand", at = "m.py:7:4"}> : (tensor<4x2xf16>) -> tensor<4x2xf32>
    %4 = "fleet.constant"() <{value = 0.0999755859375 : f64, id = "m.number", at = "m.py:7:4"}> : () -> f64
    %5 = "fleet.maximum"(%3, %4) <{id = "m.wide", at = "m.py:7:4"}> : (tensor<4x2xf32>, f64) -> tensor<4x2xf32>
    %m = "fleet.cast"(%5) <{id = "m", at = "m.py:7:4"}> : (tensor<4x2xf32>) -> tensor<4x2xf16>
    %t = "fleet.transpose"(%m) <{permutation = array<i64: 1, 0>, id = "t"}> : (tensor<4x2xf16>) -> tensor<2x4xf16>
    %6 = "fleet.cast"(%m) <{id = "g.operand"}> : (tensor<4x2xf16>) -> tensor<4x2xf32>
    %g = "fleet.greater"(%6, %n) <{id = "g"}> : (tensor<4x2xf32>, tensor<2xf32>) -> tensor<4x2xi1>
    func.return %t, %g : tensor<2x4xf16>, tensor<4x2xi1>
  }
}
