"""What every room stands on: files written whole, precision, scores, torchvision."""
