"""The one exception that users see: its text is one sentence that says what is wrong and what to do.

`Interrupted` is not an error: a job was asked to stop and has saved its state.
"""


class WarlabError(Exception):
    """Bad input or an impossible request; the message is meant for the user, without a traceback."""


class Interrupted(Exception):
    """A stop was asked for and the state is saved."""
