"""Commands that show files, results, failures, devices and the machine."""
