"""FedSplit's figures, one file each."""
