"""geomongo.uri_parser gives what pymongo.uri_parser gives."""
import inspect
import warnings

import pymongo.uri_parser
import pytest

import geomongo.uri_parser
from tests.unit.differential import names, outcomes

SCOPES = names("uri_parser")
EXPRESSIONS = [
    "parse_uri('mongodb://h')",
    "parse_uri('mongodb://u:p%40@H:5,[::1]:6,%2Ftmp%2Fx.sock/db.c.d?w=1&authSource=x')",
    "parse_uri('mongodb://h/?ssl=true')",
    "parse_uri('mongodb://h/?tlsInsecure=true')",
    "parse_uri('mongodb://h/?maxPoolSize=x',warn=True)",
    "parse_uri('mongodb://h/?maxPoolSize=x')",
    "parse_uri('mongodb://h/?maxPoolSize=x',validate=False)",
    "parse_uri('mongodb://h/?wtimeoutms=3',normalize=False)",
    "parse_uri('mongodb://h/?connecttimeoutms=3',normalize=False)",
    "parse_uri('mongodb://h/?CONNECTTIMEOUTMS=3&ssl=true')",
    "parse_host('h')",
    "parse_host('h:3')",
    "parse_host('H:3')",
    "parse_host('[::1]')",
    "parse_host('[::1]:5',4)",
    "parse_host('/a/b.sock')",
    "parse_host('/a/B.sock:3')",
    "parse_host('a.sock')",
    "parse_host('::1')",
    "parse_host('h:99999')",
    "parse_host('')",
    "parse_host('[::1')",
    "parse_host('[::1]x')",
    "parse_host('h:3',None)",
    "parse_host('h',None)",
    "parse_host('h:-1')",
    "parse_host('h: 5')",
    "parse_ipv6_literal_host('[::1]',5)",
    "parse_ipv6_literal_host('[::1]:6',5)",
    "parse_ipv6_literal_host('[::1',5)",
    "parse_userinfo('u:p')",
    "parse_userinfo('u')",
    "parse_userinfo('u%40:p%2F')",
    "parse_userinfo(':p')",
    "parse_userinfo('u:')",
    "parse_userinfo('a:b:c')",
    "parse_userinfo('a@b')",
    "parse_userinfo('u+a:p+b')",
    "parse_userinfo('%ZZ:p')",
    "split_hosts('a,b:4,/x.sock')",
    "split_hosts('a,,b')",
    "split_hosts('a,')",
    "split_hosts('%2Ftmp%2Fa.sock')",
    "split_hosts('a.sock')",
    "split_options('w=1&j=true')",
    "split_options('w=1;journal=true')",
    "split_options('w=1&w=2')",
    "split_options('w')",
    "split_options('w=1',normalize=False)",
    "split_options('')",
    "split_options('a=1=2')",
    "split_options('readPreferenceTags=a:b&readPreferenceTags=')",
    "split_options('ssl=true&tls=false')",
    "split_options('tls=true&tls=false')",
    "split_options('tlsInsecure=true')",
    "split_options('tlsInsecure=false')",
    "split_options('tlsAllowInvalidCertificates=true')",
    "split_options('tlsAllowInvalidCertificates=true&tlsDisableOCSPEndpointCheck=true')",
    "split_options('tlsInsecure=true&tlsDisableOCSPEndpointCheck=true')",
    "validate_options({'w':1})",
    "validate_options({'maxPoolSize':'x'})",
    "validate_options({'maxPoolSize':'x'},True)",
    "validate_options({'foo':'x'})",
    "validate_options({'foo':'x'},True)",
    "parse_uri('mongodb://h/db?')",
    "parse_uri('mongodb://h/?')",
    "parse_uri('mongodb://h/%64b')",
    "parse_uri('mongodb://h/db%2Ex')",
    "parse_uri('mongodb://h/.c')",
    "parse_uri('mongodb://h/db.')",
    "parse_uri('mongodb://h/a/b')",
    "parse_uri('mongodb://a/b.sock')",
    "parse_uri('mongodb://%2Ftmp%2FA.sock/db')",
    "parse_uri('mongodb://rel%2Fa.sock')",
    "parse_uri('mongodb://h?')",
    "parse_uri('mongodb://u:p@h?w=1')",
    "parse_uri(3)",
    "parse_uri('mongodb://h/?authMechanismProperties=SERVICE_NAME:x,CANONICALIZE_HOST_NAME:true')",
    "parse_uri('mongodb://h/?authMechanismProperties=SERVICE_NAME:a:b')",
    "parse_uri('mongodb://h/?authMechanismProperties=AWS_SESSION_TOKEN:a:b')",
    "parse_uri('mongodb://h/?authMechanismProperties=SERVICE_NAME')",
    "parse_uri('mongodb://h/?authMechanismProperties=FOO:x',warn=True)",
    "parse_uri('mongodb://h/?readPreferenceTags=a')",
    "parse_uri('mongodb://h/?readPreferenceTags=a:b,c',warn=True)",
    "parse_uri('mongodb+srv://1.2.3.4')",
    "parse_uri('mongodb+srv://')",
    "parse_uri('mongodb+srv://[::1]')",
    "parse_uri('mongodb://h/?srvMaxHosts=0')",
    "parse_uri('mongodb://h/?authMechanism=MONGODB-X509&authSource=x')",
    "parse_uri('mongodb://h/?authMechanism=FOO')",
    "parse_uri('mongodb://h/?authMechanism=FOO',warn=True)",
    "parse_uri('mongodb://h/?authSource=')",
]
# Here PyMongo ends with an accident of its own, or gives a broken host; geomongo refuses with a reason.
CLEARER = {"parse_host('')", "parse_host('[::1]x')"}


@pytest.mark.parametrize("expression", [e for e in EXPRESSIONS if e not in CLEARER])
def test_same_outcome_as_pymongo(expression):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ours, theirs = outcomes(f"in_one_order({expression})", SCOPES)
    assert ours == theirs


@pytest.mark.parametrize("expression", sorted(CLEARER))
def test_nonsense_is_refused(expression):
    with pytest.raises(ValueError):
        eval(expression, SCOPES[0])


def in_one_order(result):
    """A result with its options in one order, by lower-case name."""
    if isinstance(result, (tuple, list)):
        return result
    if "options" in result:
        return {**result, "options": in_one_order(result["options"])}
    return sorted((name.lower(), value) for name, value in result.items())


for _scope in SCOPES:
    _scope["in_one_order"] = in_one_order


@pytest.mark.parametrize("name", [n for n in geomongo.uri_parser.__all__ if n.islower()])
def test_same_parameters_as_pymongo(name):
    def parameters(module):
        signature = inspect.signature(getattr(module, name))
        return [(p.name, p.default, p.kind) for p in signature.parameters.values()]
    assert parameters(geomongo.uri_parser) == parameters(pymongo.uri_parser)


def test_wrong_options_warn_once():
    with pytest.warns(UserWarning) as caught:
        geomongo.uri_parser.parse_uri("mongodb://h/?maxPoolSize=x", warn=True)
    assert len(caught) == 1
