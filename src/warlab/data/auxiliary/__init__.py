"""Other resources that can be fetched: human labels and weights of pre-trained networks, one file each."""
