// passes: canonicalise
func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %one = "fleet.constant"() <{value = 1.0 : f32, id = "one"}> : () -> f32
  %zero = "fleet.constant"() <{value = 0.0 : f32, id = "zero"}> : () -> f32
  %a = "fleet.mul"(%x, %one) <{id = "a"}> : (tensor<2x3xf32>, f32) -> tensor<2x3xf32>
  %b = "fleet.add"(%a, %zero) <{id = "b"}> : (tensor<2x3xf32>, f32) -> tensor<2x3xf32>
  %c = "fleet.sub"(%b, %zero) <{id = "c"}> : (tensor<2x3xf32>, f32) -> tensor<2x3xf32>
  %d = "fleet.neg"(%c) <{id = "d"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = "fleet.neg"(%d) <{id = "e"}> : (tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %e : tensor<2x3xf32>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %zero = "fleet.constant"() <{value = 0.000000e+00 : f32, id = "zero"}> : () -> f32
    %b = "fleet.add"(%x, %zero) <{id = "b"}> : (tensor<2x3xf32>, f32) -> tensor<2x3xf32>
    func.return %b : tensor<2x3xf32>
  }
}
