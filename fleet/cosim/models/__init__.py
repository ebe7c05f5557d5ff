"""Models as commands and cases name them: loading, data, stored models, calibration, the cost of quantising."""
