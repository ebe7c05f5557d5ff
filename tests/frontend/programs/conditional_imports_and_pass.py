import numpy as np
class_name = "x"
if False:
    undefined_thing()
def later():
    return defined_below()
def defined_below():
    return np.ones(1)
print(later(), class_name)
