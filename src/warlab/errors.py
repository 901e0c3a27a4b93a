"""The one exception that users see: its text is one sentence that says what is wrong and what to do."""


class WarlabError(Exception):
    """Bad input or an impossible request; the message is meant for the user, without a traceback."""
