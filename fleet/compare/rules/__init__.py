"""Forward error of single operations: `table` names the rule of each operation, `steps` is what a rule works with."""
