"""Forward error of single operations: `table` names the rule of each operation, `steps` defines what a rule works with."""
