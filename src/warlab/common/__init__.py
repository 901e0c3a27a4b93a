"""Helpers shared by all packages: files, seeds, precision, settings, wording, torchvision."""
