"""The one exception that users see: its text is one sentence that says what is wrong and what to do.

`Interrupted` is not an error: a job was asked to stop and has saved its state.
"""


class WarlabError(Exception):
    """Bad input or an impossible request; the message is meant for the user, without a traceback."""


def reason(error: Exception) -> str:
    """What an error of another library says, as part of one sentence."""
    return " ".join(str(error).split())[:200] or type(error).__name__


class Interrupted(Exception):
    """A stop was asked for and the state is saved."""
