// passes: fold-constants,dce
func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
  %a = "fleet.constant"() <{value = 2.0 : f64, id = "a"}> : () -> f64
  %b = "fleet.constant"() <{value = 3.141592653589793 : f64, id = "b"}> : () -> f64
  %c = "fleet.div"(%a, %b) <{id = "c"}> : (f64, f64) -> f64
  %d = "fleet.sqrt"(%c) <{id = "d"}> : (f64) -> tensor<f64>
  %e = "fleet.mul"(%x, %d) <{id = "e"}> : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
  func.return %e : tensor<2xf64>
}

// ----- becomes -----
builtin.module {
  func.func @f(%x: tensor<2xf64>) -> tensor<2xf64> {
    %d = "fleet.constant"() <{value = 0.79788456080286541 : f64, id = "d"}> : () -> tensor<f64>
    %e = "fleet.mul"(%x, %d) <{id = "e"}> : (tensor<2xf64>, tensor<f64>) -> tensor<2xf64>
    func.return %e : tensor<2xf64>
  }
}
