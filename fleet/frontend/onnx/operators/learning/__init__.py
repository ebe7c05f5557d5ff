"""Operators of ai.onnx.ml: models and preparation of features, as exporters of scikit-learn, LightGBM and XGBoost write them."""
