"""The client document of the handshake: its fields, its providers, and how it is cut to 512 bytes."""
from __future__ import annotations

import bson
import pytest

from geomongo._auth.handshake import Introduction, handshake, hello_document
from geomongo._auth.metadata import MAX_SIZE, Host, client_metadata, environment, faas_name, truncated
from geomongo._version import __version__
from geomongo.driver_info import DriverInfo
from geomongo.errors import ProtocolError

HOST = Host("Linux", "linux", "x86_64", "6.1", "CPython 3.11.2", False)
LAMBDA = {"AWS_EXECUTION_ENV": "AWS_Lambda_java8", "AWS_REGION": "us-east-2", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "1024"}
AZURE = {"FUNCTIONS_WORKER_RUNTIME": "node"}
GCP = {"K_SERVICE": "servicename", "FUNCTION_MEMORY_MB": "1024", "FUNCTION_TIMEOUT_SEC": "60",
       "FUNCTION_REGION": "us-central1"}
VERCEL = {"VERCEL": "1", "VERCEL_REGION": "cdg1"}
KUBERNETES = {"KUBERNETES_SERVICE_HOST": "1"}


def size(document):
    return len(bson.encode(document))


def test_all_of_it():
    assert client_metadata(HOST, {}, "shop", ()) == {
        "application": {"name": "shop"}, "driver": {"name": "geomongo", "version": __version__},
        "os": {"type": "Linux", "name": "linux", "architecture": "x86_64", "version": "6.1"},
        "platform": "CPython 3.11.2"}


def test_what_is_not_known_is_left_out():
    document = client_metadata(HOST._replace(os_type=""), {}, None, ())
    assert "application" not in document and "env" not in document
    assert document["os"]["type"] == "unknown"


@pytest.mark.parametrize(("wrappers", "name", "version", "platform"), [
    ([("frame", "2.0", "Frame Platform")], "|frame", "|2.0", "|Frame Platform"),
    ([("frame", "2.0", None)], "|frame", "|2.0", ""),
    ([("frame", None, "Frame Platform")], "|frame", "", "|Frame Platform"),
    ([("frame", None, None)], "|frame", "", ""),
    ([("frame", "2.0", None), ("app", "3", "x")], "|frame|app", "|2.0|3", "|x"),
])
def test_libraries_on_top_are_joined(wrappers, name, version, platform):
    document = client_metadata(HOST, {}, None, tuple(DriverInfo(*wrapper) for wrapper in wrappers))
    assert document["driver"] == {"name": "geomongo" + name, "version": __version__ + version}
    assert document["platform"] == HOST.platform + platform


@pytest.mark.parametrize(("environ", "env"), [
    ({}, {}),
    (LAMBDA, {"name": "aws.lambda", "region": "us-east-2", "memory_mb": 1024}),
    ({"AWS_LAMBDA_RUNTIME_API": "x"}, {"name": "aws.lambda"}),
    ({"AWS_EXECUTION_ENV": "EC2"}, {}),
    ({"AWS_EXECUTION_ENV": ""}, {}),
    (AZURE, {"name": "azure.func"}),
    (GCP, {"name": "gcp.func", "memory_mb": 1024, "timeout_sec": 60, "region": "us-central1"}),
    ({"FUNCTION_NAME": "f"}, {"name": "gcp.func"}),
    (VERCEL, {"name": "vercel", "region": "cdg1"}),
    ({**VERCEL, **LAMBDA}, {"name": "vercel", "region": "cdg1"}),
    ({**LAMBDA, **AZURE}, {}), ({**GCP, **AZURE}, {}), ({**VERCEL, **GCP}, {}), ({**VERCEL, **LAMBDA, **GCP}, {}),
    ({**LAMBDA, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "big"}, {"name": "aws.lambda", "region": "us-east-2"}),
    ({**LAMBDA, "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": "99999999999"}, {"name": "aws.lambda", "region": "us-east-2"}),
    ({**LAMBDA, "AWS_REGION": ""}, {"name": "aws.lambda", "memory_mb": 1024}),
    (KUBERNETES, {"container": {"orchestrator": "kubernetes"}}),
    ({**LAMBDA, **KUBERNETES}, {"name": "aws.lambda", "region": "us-east-2", "memory_mb": 1024,
                                "container": {"orchestrator": "kubernetes"}}),
])
def test_functions_as_a_service_and_containers(environ, env):
    assert environment(environ, False) == env
    container = {"container": {**env.get("container", {}), "runtime": "docker"}}
    assert environment(environ, True) == {**env, **container}
    assert faas_name(environ) == env.get("name")


# -- 512 bytes

FULL = {"application": {"name": "app"}, "driver": {"name": "geomongo", "version": "1"},
        "os": {"type": "Linux", "name": "linux", "architecture": "x86_64", "version": "6.1"}, "platform": "CPython",
        "env": {"name": "aws.lambda", "region": "us", "container": {"runtime": "docker"}}}


def with_field(parent, field, text, base=FULL):
    return {**base, parent: {**base[parent], field: text}}


def grown(parent, field, to, base=FULL):
    """`base`, whose named field is so long that the whole takes `to` bytes."""
    least = size(with_field(parent, field, "", base))
    return with_field(parent, field, "x" * (to - least), base)


ENV_NAME = {"name": "aws.lambda"}
OS_TYPE = {"type": "Linux"}


@pytest.mark.parametrize("length", [511, 512])
def test_what_fits_is_left_alone(length):
    document = grown("env", "region", length)
    assert size(document) == length
    assert truncated(document) == document


def test_first_env_keeps_only_its_name():
    assert truncated(grown("env", "region", 513)) == {**FULL, "env": ENV_NAME}


def test_an_env_without_a_name_goes_at_once():
    document = {**FULL, "env": {"container": {"runtime": "x" * 600}}}
    assert truncated(document) == {name: FULL[name] for name in FULL if name != "env"}


def test_then_os_keeps_only_its_type():
    assert truncated(grown("os", "version", 600)) == {**FULL, "env": ENV_NAME, "os": OS_TYPE}


def test_then_env_goes():
    small = {**FULL, "env": ENV_NAME, "os": OS_TYPE}
    document = grown("application", "name", 513, small)
    del small["env"]
    assert truncated(document) == {**small, "application": document["application"]}


def test_then_the_platform_is_cut_to_the_byte():
    document = {**FULL, "platform": "p" * 600}
    found = truncated(document)
    assert size(found) == MAX_SIZE
    assert found == {"application": FULL["application"], "driver": FULL["driver"], "os": OS_TYPE,
                     "platform": "p" * len(found["platform"])}


@pytest.mark.parametrize("offset", range(4))
def test_a_character_is_never_cut_in_two(offset):
    found = truncated({**FULL, "platform": "p" * offset + "\N{WATER WAVE}" * 200})
    assert MAX_SIZE - 3 <= size(found) <= MAX_SIZE
    assert found["platform"].startswith("p" * offset)
    assert set(found["platform"][offset:]) == {"\N{WATER WAVE}"}


def test_the_drivers_name_is_the_last_to_be_cut():
    wrapper = DriverInfo("w" * 600, "2", "platform")
    found = client_metadata(HOST, {}, None, (wrapper,))
    assert size(found) == MAX_SIZE
    assert found["platform"] == ""
    assert found["driver"]["name"].startswith("geomongo|www")
    assert found["os"] == OS_TYPE


def test_the_given_document_is_not_changed():
    document = grown("env", "region", 900)
    before = bson.encode(document)
    truncated(document)
    assert bson.encode(document) == before


# -- the conversation

PLAIN = Introduction({"driver": {}}, None, False)


@pytest.mark.parametrize(("introduction", "document", "legacy"), [
    (PLAIN, {"ismaster": 1, "helloOk": True, "client": {"driver": {}}}, True),
    (PLAIN._replace(load_balanced=True),
     {"hello": 1, "helloOk": True, "loadBalanced": True, "client": {"driver": {}}}, False),
    (PLAIN._replace(server_api={"apiVersion": "1"}),
     {"hello": 1, "apiVersion": "1", "helloOk": True, "client": {"driver": {}}}, False),
])
def test_the_first_command_of_a_connection(introduction, document, legacy):
    assert hello_document(introduction) == document
    step = next(handshake(introduction))
    assert (step.database, step.document, step.legacy) == ("admin", document, legacy)
    assert next(iter(step.document)) in ("hello", "ismaster")


def test_the_handshake_returns_the_reply():
    conversation = handshake(PLAIN)
    next(conversation)
    with pytest.raises(StopIteration) as done:
        conversation.send({"ok": 1, "maxWireVersion": 21})
    assert done.value.value == {"ok": 1, "maxWireVersion": 21}


def test_a_refusal_says_what_the_server_said():
    conversation = handshake(PLAIN)
    next(conversation)
    with pytest.raises(ProtocolError, match=r"'go away'.*is this a MongoDB server"):
        conversation.send({"ok": 0, "errmsg": "go away"})
