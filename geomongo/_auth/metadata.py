"""The `client` document of the handshake: who connects, in at most 512 bytes.

Source: specifications/source/mongodb-handshake/handshake.md, "client" fields and "Limitations".
"""
from __future__ import annotations

from typing import Any, Mapping, NamedTuple, Optional

from geomongo._bson import DEFAULT_OPTIONS, encode
from geomongo._version import __version__
from geomongo.driver_info import DriverInfo

MAX_SIZE = 512
_SEPARATOR = "|"


class Host(NamedTuple):
    """Facts of the machine and the interpreter, gathered once by the caller."""

    os_type: str
    os_name: str
    architecture: str
    os_version: str
    platform: str
    has_dockerenv: bool


def client_metadata(host: Host, environ: Mapping[str, str], app_name: Optional[str],
                    wrappers: tuple[DriverInfo, ...]) -> dict[str, Any]:
    """The metadata document, cut to size. `wrappers` are the libraries on top of the driver, in order."""
    document: dict[str, Any] = {}
    if app_name:
        document["application"] = {"name": app_name}
    document["driver"] = {
        "name": _joined("geomongo", [wrapper.name for wrapper in wrappers]),
        "version": _joined(__version__, [wrapper.version for wrapper in wrappers])}
    document["os"] = {"type": host.os_type or "unknown", "name": host.os_name,
                      "architecture": host.architecture, "version": host.os_version}
    document["platform"] = _joined(host.platform, [wrapper.platform for wrapper in wrappers])
    env = environment(environ, host.has_dockerenv)
    if env:
        document["env"] = env
    return truncated(document)


def _joined(first: str, others: list[Optional[str]]) -> str:
    return _SEPARATOR.join([first, *(other for other in others if other)])


def truncated(document: dict[str, Any]) -> dict[str, Any]:
    """`document` with what the specification gives up first left out, until it fits."""
    document = dict(document)
    env = document.get("env")
    if _size(document) > MAX_SIZE and env:
        document["env"] = {"name": env["name"]} if "name" in env else {}
        if not document["env"]:
            del document["env"]
    if _size(document) > MAX_SIZE:
        document["os"] = {"type": document["os"]["type"]}
    if _size(document) > MAX_SIZE:
        document.pop("env", None)
    over = _size(document) - MAX_SIZE
    if over > 0:
        document["platform"] = _cut(document["platform"], over)
    over = _size(document) - MAX_SIZE
    if over > 0:
        driver = dict(document["driver"])
        driver["name"] = _cut(driver["name"], over)
        document["driver"] = driver
    return document


def _cut(text: str, over: int) -> str:
    data = text.encode()
    return data[:max(0, len(data) - over)].decode(errors="ignore")


def _size(document: dict[str, Any]) -> int:
    return len(encode(document, False, DEFAULT_OPTIONS))


def environment(environ: Mapping[str, str], has_dockerenv: bool) -> dict[str, Any]:
    """The `env` document: function-as-a-service and container, empty where neither is known."""
    env = _faas(environ)
    container = {}
    if has_dockerenv:
        container["runtime"] = "docker"
    if environ.get("KUBERNETES_SERVICE_HOST"):
        container["orchestrator"] = "kubernetes"
    if container:
        env["container"] = container
    return env


# Field of env, environment variable, and whether it is a number; by provider.
_FAAS_FIELDS: dict[str, tuple[tuple[str, str, bool], ...]] = {
    "aws.lambda": (("region", "AWS_REGION", False), ("memory_mb", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE", True)),
    "azure.func": (),
    "gcp.func": (("memory_mb", "FUNCTION_MEMORY_MB", True), ("timeout_sec", "FUNCTION_TIMEOUT_SEC", True),
                 ("region", "FUNCTION_REGION", False)),
    "vercel": (("region", "VERCEL_REGION", False),),
}


def faas_name(environ: Mapping[str, str]) -> Optional[str]:
    """The function-as-a-service provider, None where there is none or where several seem to be."""
    names = []
    if environ.get("AWS_EXECUTION_ENV", "").startswith("AWS_Lambda_") or environ.get("AWS_LAMBDA_RUNTIME_API"):
        names.append("aws.lambda")
    if environ.get("FUNCTIONS_WORKER_RUNTIME"):
        names.append("azure.func")
    if environ.get("K_SERVICE") or environ.get("FUNCTION_NAME"):
        names.append("gcp.func")
    if environ.get("VERCEL"):
        names.append("vercel")
    if names == ["aws.lambda", "vercel"]:
        return "vercel"
    return names[0] if len(names) == 1 else None


def _faas(environ: Mapping[str, str]) -> dict[str, Any]:
    name = faas_name(environ)
    if name is None:
        return {}
    env: dict[str, Any] = {"name": name}
    for field, variable, is_number in _FAAS_FIELDS[name]:
        text = environ.get(variable)
        if not text:
            continue
        value = _int32(text) if is_number else text
        if value is not None:
            env[field] = value
    return env


def _int32(text: str) -> Optional[int]:
    try:
        number = int(text)
    except ValueError:
        return None
    return number if -2**31 <= number < 2**31 else None
