"""What every room stands on: files written whole, seeds, precision, settings, wording, torchvision."""
