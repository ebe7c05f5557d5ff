"""Pages and commands that show what there is: files, results, failures, devices, the machine."""
