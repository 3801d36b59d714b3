"""FedDyn's figures and tables, one file each."""
