"""The conversion of ONNX nodes to operators of `relay`."""
