"""What observers may not see (command logging and monitoring specification, "Security")."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

SENSITIVE_COMMANDS = frozenset({
    "authenticate", "saslstart", "saslcontinue", "getnonce", "createuser", "updateuser", "copydbgetnonce",
    "copydbsaslstart", "copydb",
})
HELLO_COMMANDS = frozenset({"hello", "ismaster"})
# What a failure of a sensitive command may still tell.
HARMLESS_FAILURE_FIELDS = ("ok", "code", "codeName", "errorLabels")


def is_sensitive(command_name: str, document: Mapping[str, Any]) -> bool:
    """Whether a command or reply may hold credentials; `hello` does if it authenticates speculatively."""
    name = command_name.lower()
    return name in SENSITIVE_COMMANDS or (name in HELLO_COMMANDS and "speculativeAuthenticate" in document)


def redacted(command_name: str, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The command or reply as observers may see it: empty if it is sensitive, else itself."""
    return {} if is_sensitive(command_name, document) else document


def redacted_failure(command_name: str, failure: Mapping[str, Any]) -> Mapping[str, Any]:
    """The failure as observers may see it: without its message if the command is sensitive."""
    if not is_sensitive(command_name, failure):
        return failure
    return {key: failure[key] for key in HARMLESS_FAILURE_FIELDS if key in failure}
