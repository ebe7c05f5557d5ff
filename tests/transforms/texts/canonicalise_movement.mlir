// passes: canonicalise
func.func @f(%x: tensor<4x6xf32>) -> tensor<3x2xf32> {
  %a = "fleet.slice"(%x) <{start = array<i64: 0, 1>, size = array<i64: 4, 4>, id = "a"}> : (tensor<4x6xf32>) -> tensor<4x4xf32>
  %b = "fleet.slice"(%a) <{start = array<i64: 3, 0>, size = array<i64: 2, 3>, step = array<i64: -2, 1>, id = "b"}> : (tensor<4x4xf32>) -> tensor<2x3xf32>
  %c = "fleet.transpose"(%b) <{permutation = array<i64: 1, 0>, id = "c"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %d = "fleet.reshape"(%c) <{id = "d"}> : (tensor<3x2xf32>) -> tensor<6xf32>
  %e = "fleet.reshape"(%d) <{id = "e"}> : (tensor<6xf32>) -> tensor<3x2xf32>
  func.return %e : tensor<3x2xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<4x6xf32>) -> tensor<3x2xf32> {
    %b = "fleet.slice"(%x) <{start = array<i64: 3, 1>, size = array<i64: 2, 3>, step = array<i64: -2, 1>, id = "b"}> : (tensor<4x6xf32>) -> tensor<2x3xf32>
    %c = "fleet.transpose"(%b) <{permutation = array<i64: 1, 0>, id = "c"}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    func.return %c : tensor<3x2xf32>
  }
}
