"""The methods on deep networks: a PyTorch runner that takes the same method objects as the exact core."""
