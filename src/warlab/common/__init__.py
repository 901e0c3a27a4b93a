"""Shared by all rooms: files, seeds, precision, settings, wording, torchvision."""
