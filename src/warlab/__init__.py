"""warlab: learning with label noise. `from warlab.war import WARLoss` is all that many users need."""

__version__ = "0.1.0"
