"""ONNX models become `relay` IR; weights stay outside the text."""
