"""The exceptions of warlab."""


class WarlabError(Exception):
    """Bad input or an impossible request. Users see its text without a traceback: what is wrong and what to do."""


class Interrupted(Exception):
    """Not an error: a job was asked to stop and has saved its state."""
