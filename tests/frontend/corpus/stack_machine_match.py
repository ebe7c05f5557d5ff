from enum import Enum
import numpy as np
class Op(Enum):
    ADD = "+"
    MUL = "*"
    NEG = "~"
def run(prog, x):
    st = [x]
    for ins in prog:
        match ins:
            case (Op.ADD, k):
                st.append(st.pop() + k)
            case (Op.MUL, k) if k != 0:
                st.append(st.pop() * k)
            case Op.NEG:
                st.append(-st.pop())
            case _:
                raise RuntimeError(ins)
    return st[-1]
print(run([(Op.ADD, 2), (Op.MUL, 3), Op.NEG], np.arange(4.)))
print([o.name for o in Op], Op("*"))
