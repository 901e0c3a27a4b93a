"""Procedural images and scenes for stand-ins."""
