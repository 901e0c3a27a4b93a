"""The exceptions of warlab."""


class WarlabError(Exception):
    """Bad input or an impossible request. Users see its text without a traceback: what is wrong and what to do."""


def reason(error: Exception) -> str:
    """What an error of another library says, as part of one sentence."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class Interrupted(Exception):
    """Not an error: a job was asked to stop and has saved its state."""
