"""An ONNX model as it is read: bytes, schemas, tensors, function bodies."""
