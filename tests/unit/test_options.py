"""Options mean what they mean to PyMongo: the same arguments go through both constructors."""
import datetime
import pickle
import warnings

import pymongo
import pytest

from geomongo._options.client_options import ClientOptions, client_options
from geomongo._options.table import OPTIONS
from geomongo.errors import ConfigurationError, InvalidURI
from tests.unit.differential import names, outcomes


def our_facts(*args, **kwargs):
    """What geomongo makes of a client's arguments, and how many warnings it gives."""
    kwargs.setdefault("connect", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        options = client_options(*args, **kwargs)
    return {
        "seeds": sorted(options.seeds), "database": options.database, "warnings": len(caught),
        "codec": repr(options.codec_options), "read_preference": repr(options.read_preference),
        "concerns": (repr(options.read_concern), repr(options.write_concern)),
        "retries": (options.retry_reads, options.retry_writes, options.max_adaptive_retries,
                    options.enable_overload_retargeting),
        "deployment": (options.replica_set, options.direct_connection, options.load_balanced),
        "timing": (options.server_selection_timeout, options.local_threshold, options.heartbeat_frequency,
                   options.server_monitoring_mode, options.timeout),
        "connection": (options.connect_timeout, options.socket_timeout, options.wait_queue_timeout,
                       options.max_idle_time, options.app_name, options.driver),
        "pool": (options.max_pool_size, options.min_pool_size, options.max_connecting),
        "tls": options.tls, "compression": (options.compressors, options.zlib_compression_level),
        "auth": options.auth_mechanism and (options.auth_mechanism, options.auth_source, options.username,
                                            options.password),
    }


def their_facts(*args, **kwargs):
    """The same from PyMongo."""
    kwargs.setdefault("connect", False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        client = pymongo.MongoClient(*args, **kwargs)
    options, pool = client.options, client.options.pool_options
    auth = pool._credentials
    facts = {
        "seeds": sorted(client._topology_settings.seeds), "database": database_of(client),
        "warnings": len(caught),
        "codec": repr(options.codec_options), "read_preference": repr(options.read_preference),
        "concerns": (repr(options.read_concern), repr(options.write_concern)),
        "retries": (options.retry_reads, options.retry_writes, options.max_adaptive_retries,
                    options.enable_overload_retargeting),
        "deployment": (options.replica_set_name, bool(options.direct_connection),
                       bool(options.load_balanced)),
        "timing": (float(options.server_selection_timeout), options.local_threshold_ms / 1000,
                   float(options.heartbeat_frequency), options.server_monitoring_mode, options.timeout),
        "connection": (pool.connect_timeout, pool.socket_timeout, pool.wait_queue_timeout,
                       pool.max_idle_time_seconds, pool.appname, pool.driver),
        "pool": (None if pool.max_pool_size == float("inf") else pool.max_pool_size or None,
                 pool.min_pool_size, pool.max_connecting),
        "tls": pool._ssl_context is not None,
        "compression": (pool._compression_settings.compressors,
                        pool._compression_settings.zlib_compression_level),
        "auth": auth and (auth.mechanism, auth.source, auth.username, auth.password),
    }
    client.close()
    return facts


def database_of(client):
    try:
        return client.get_default_database().name
    except pymongo.errors.ConfigurationError:
        return None


SCOPES = names("read_preferences", "server_api")
for _scope, _facts in zip(SCOPES, (our_facts, their_facts)):
    _scope.update(C=_facts, UTC=datetime.timezone.utc)

EXPRESSIONS = [
    "C()",
    "C('h')",
    "C('h',1)",
    "C(['a','b:2'])",
    "C(['a','b:2'],5)",
    "C('a,b:3')",
    "C(3)",
    "C(['a',3])",
    "C([])",
    "C('')",
    "C('h',port='x')",
    "C('h',0)",
    "C('h',70000)",
    "C('h',-1)",
    "C('h',1.5)",
    "C(port=3)",
    "C('mongodb://h/db',5)",
    "C('mongodb://h:1',5)",
    "C(['mongodb://a','mongodb://b'])",
    "C(['mongodb://a/?w=1','c'])",
    "C('/tmp/x.sock')",
    "C('[::1]:3')",
    "C('::1')",
    "C('[::1')",
    "C('h:x')",
    "C('h:')",
    "C(':5')",
    "C('h:70000')",
    "C('h:0')",
    "C('H')",
    "C('mongodb://H')",
    "C(foo=3)",
    "C(maxpoolsize=3)",
    "C(maxPoolSize=3)",
    "C(MAXPOOLSIZE=3)",
    "C(max_pool_size=3)",
    "C(maxPoolSiz=3)",
    "C(maxPoolSize='x')",
    "C(maxPoolSize=-1)",
    "C(maxPoolSize='5')",
    "C('mongodb://h/?maxPoolSize=5',maxPoolSize=6)",
    "C('mongodb://h/?maxPoolSize=x')",
    "C('mongodb://h/?foo=x')",
    "C('mongodb://h/?maxPoolSize=5&maxPoolSize=7')",
    "C('mongodb://h/?maxPoolSize')",
    "C('mongodb://h/?maxPoolSize=')",
    "C('mongodb://h/?a=1;b=2')",
    "C('mongodb://h/?w=1;j=true')",
    "C('mongodb://h/?w=1;journal=true&x=1')",
    "C(minPoolSize=5,maxPoolSize=3)",
    "C(maxPoolSize=0)",
    "C(minPoolSize=200)",
    "C(w=1,j=True)",
    "C(journal=True)",
    "C(w=0,journal=True)",
    "C(fsync=True,journal=True)",
    "C(wtimeout=3)",
    "C(wTimeoutMS=3)",
    "C(wtimeoutms=-3)",
    "C('mongodb://h/?wtimeout=5')",
    "C(readPreference='x')",
    "C(readPreference='secondary')",
    "C(read_preference=ReadPreference.NEAREST)",
    "C(readPreference=ReadPreference.NEAREST)",
    "C(read_preference='nearest')",
    "C(readPreference='secondary',maxStalenessSeconds=90)",
    "C(readPreference='primary',maxStalenessSeconds=90)",
    "C(maxStalenessSeconds=90)",
    "C(readPreference='secondary',maxStalenessSeconds=0)",
    "C(readPreference='secondary',readPreferenceTags='dc:a')",
    "C(readPreference='secondary',readPreferenceTags=[{'a':'b'}])",
    "C('mongodb://h/?readPreference=secondary&readPreferenceTags=dc:ny,rack:1&readPreferenceTags=')",
    "C('mongodb://h/?readPreferenceTags=dc:ny')",
    "C(readConcernLevel='majority')",
    "C(username='u')",
    "C(password='p')",
    "C(username='u',password='p')",
    "C('mongodb://u:p@h/db')",
    "C('mongodb://u@h/db')",
    "C('mongodb://u:p@h/db',username='x')",
    "C(username='u',password='p',authSource='s')",
    "C(authSource='s')",
    "C(authMechanism='x')",
    "C(authMechanism='PLAIN')",
    "C(authMechanism='MONGODB-X509')",
    "C(authMechanism='GSSAPI')",
    "C(authMechanism='SCRAM-SHA-256')",
    "C(authMechanism='SCRAM-SHA-256',username='u')",
    "C(authMechanism='MONGODB-AWS')",
    "C(authMechanismProperties='a:b')",
    "C(authMechanismProperties={'SERVICE_NAME':'b'})",
    "C(tls=True)",
    "C(ssl=True)",
    "C(tls=True,ssl=False)",
    "C(tls=False,ssl=False)",
    "C(tlsInsecure=True)",
    "C(tls=True,tlsInsecure=True,tlsAllowInvalidCertificates=True)",
    "C(tls=False,tlsAllowInvalidCertificates=True)",
    "C(tlsCAFile='/nonexist')",
    "C('mongodb://h/?tls=true&ssl=false')",
    "C('mongodb://h/?tls=true&ssl=true')",
    "C('mongodb://h/?tls=true&tlsInsecure=true&tlsAllowInvalidCertificates=true')",
    "C('mongodb://h/?tls=false',tlsInsecure=True)",
    "C(directConnection=True)",
    "C(['a','b'],directConnection=True)",
    "C(['a','b'],loadBalanced=True)",
    "C(loadBalanced=True,replicaSet='x')",
    "C(loadBalanced=True,directConnection=True)",
    "C('mongodb://a,b/?directConnection=true')",
    "C('mongodb://a/?loadBalanced=true&replicaSet=x')",
    "C(replicaSet='')",
    "C(replicaSet=3)",
    "C(srvMaxHosts=3)",
    "C(srvServiceName='x')",
    "C('mongodb://h/?srvMaxHosts=3')",
    "C('mongodb://h/?srvServiceName=c')",
    "C(compressors='zlib')",
    "C(compressors='foo')",
    "C(compressors='zlib,foo')",
    "C(compressors=['zlib'])",
    "C(zlibCompressionLevel=3)",
    "C(zlibCompressionLevel=10)",
    "C(appname='x'*200)",
    "C(appname=3)",
    "C(appName='x')",
    "C(uuidRepresentation='standard')",
    "C(uuidRepresentation='x')",
    "C(uuidRepresentation=4)",
    "C(unicode_decode_error_handler='ignore')",
    "C(unicode_decode_error_handler='x')",
    "C(document_class=3)",
    "C(document_class=list)",
    "C(document_class=dict)",
    "C(tz_aware=3)",
    "C(tz_aware='x')",
    "C(tz_aware=True)",
    "C(tzinfo=3)",
    "C(tzinfo=UTC)",
    "C(tzinfo=UTC,tz_aware=True)",
    "C(type_registry=3)",
    "C(connect=3)",
    "C(connect='x')",
    "C(datetime_conversion='x')",
    "C(datetime_conversion=2)",
    "C(datetime_conversion='DATETIME_MS')",
    "C(driver=3)",
    "C(server_api=3)",
    "C(server_api=ServerApi('1'))",
    "C(server_selector=3)",
    "C(event_listeners=())",
    "C(event_listeners=None)",
    "C(auto_encryption_opts=3)",
    "C(timeoutMS=0)",
    "C(timeoutMS=-1)",
    "C(timeoutMS=5)",
    "C(timeoutMS=None)",
    "C(timeoutMS=1.5)",
    "C(connectTimeoutMS=0)",
    "C(connectTimeoutMS=None)",
    "C(connectTimeoutMS='x')",
    "C(serverSelectionTimeoutMS=0)",
    "C(socketTimeoutMS=0)",
    "C(waitQueueTimeoutMS=0)",
    "C(waitQueueMultiple=3)",
    "C(heartbeatFrequencyMS=10)",
    "C(heartbeatFrequencyMS=499)",
    "C(heartbeatFrequencyMS=0)",
    "C(heartbeatFrequencyMS=500)",
    "C(localThresholdMS=-1)",
    "C(serverMonitoringMode='x')",
    "C(serverMonitoringMode='poll')",
    "C(maxConnecting=0)",
    "C(serverSelectionTryOnce=True)",
    "C('mongodb://h/?serverSelectionTryOnce=true')",
    "C(maxIdleTimeMS=0)",
    "C(maxIdleTimeMS=-1)",
    "C(retryWrites='x')",
    "C(retryWrites=1)",
    "C('mongodb://h/?retryWrites=1')",
    "C('mongodb://h/?retryWrites=no')",
    "C('mongodb+srv://a.b.c:5')",
    "C('mongodb+srv://a.b.c,d.e.f')",
    "C('http://x')",
    "C('mongodb://')",
    "C('mongodb:///db')",
    "C('mongodb://h?w=1')",
    "C('mongodb://u:p:q@h')",
    "C('mongodb://u@p@h')",
    "C('mongodb://u%:p@h')",
    "C('mongodb://u:p/@h')",
    "C('mongodb://:p@h')",
    "C('mongodb://@h')",
    "C('mongodb://h/a.b')",
    "C('mongodb://h/a$b')",
    "C('mongodb://h/db.coll?w=1')",
    "C('mongodb://h/?w=majority&wTimeoutMS=3&journal=true&fsync=true')",
    "C('mongodb://h/?authSource=')",
    "C('mongodb://h/?appname=a%20b')",
    "C(enableOverloadRetargeting=True)",
    "C(maxAdaptiveRetries=3)",
    "C(srvAllowedHostsSuffix='x')",
]
VALUES = [None, True, False, 0, 1, -1, 1.5, -1.0, 2 ** 31, "", "x", "true", "True", "1", "0", "-1", "1.5",
          "null",
          [], ["a"], {}, {"a": 1}, (), b"x", object]
# Not compared over all values: what they hold is PyMongo's own, is looked up, or comes with another feature.
LEFT_OUT = {"server_api", "driver", "type_registry", "event_listeners", "read_preference", "compressors",
            "auto_encryption_opts", "connect", "authmechanismproperties", "tlscafile",
            "tlscertificatekeyfile",
            "tlscrlfile", "tlscertificatekeyfilepassword", "tls", "ssl", "replicaset"}
# Where geomongo is plainer on purpose: (option, value).
PLAINER = {
    # PyMongo takes what is false for the default; geomongo wants a class.
    *(("document_class", repr(value)) for value in (False, 0, "", [], {}, ())),
    # PyMongo switches TLS on for `False`, and not for `True`; here these options leave that to `tls`.
    *((name, "False") for name in ("tlsinsecure", "tlsallowinvalidcertificates", "tlsallowinvalidhostnames",
                                   "tlsdisableocspendpointcheck")),
}
# In a connection string these end PyMongo's constructor with a KeyError; here they are a warning.
PLAINER_TEXTS = {"datetime_conversion"}
# Options that PyMongo does not know.
ONLY_OURS = {name for name in OPTIONS if name.startswith("proxy")} | {"tlsdisablecertificaterevocationcheck"}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_same_outcome_as_pymongo(expression):
    ours, theirs = outcomes(expression, SCOPES)
    assert ours == theirs


@pytest.mark.parametrize("name", sorted(set(OPTIONS) - LEFT_OUT - ONLY_OURS))
def test_every_keyword_takes_the_values_that_pymongo_takes(name):
    different = []
    for value in VALUES:
        ours, theirs = outcomes(f"C(**{{{name!r}: VALUE}})", tuple({**s, "VALUE": value} for s in SCOPES))
        if ours != theirs and (name, repr(value)) not in PLAINER:
            different.append((value, ours, theirs))
    assert not different


@pytest.mark.parametrize("name", sorted(n for n, row in OPTIONS.items()
                                        if not row.keyword_only
                                        and n not in LEFT_OUT | ONLY_OURS | PLAINER_TEXTS))
def test_every_uri_option_takes_the_texts_that_pymongo_takes(name):
    different = []
    for text in (value for value in VALUES if isinstance(value, str)):
        ours, theirs = outcomes(f"C('mongodb://h/?{name}={text}')", SCOPES)
        if ours != theirs:
            different.append((text, ours, theirs))
    assert not different


def test_pymongo_has_no_option_that_we_lack():
    from pymongo.common import VALIDATORS
    assert set(VALIDATORS) - set(OPTIONS) == set()


def test_unknown_options_name_similar_ones():
    with pytest.raises(ConfigurationError, match="Unknown option: maxPoolSiz.*maxPoolSize"):
        client_options(maxPoolSiz=3)


def test_secrets_are_never_shown():
    options = client_options("mongodb://user:hunter2@h/?proxyHost=p&proxyUsername=u&proxyPassword=hunter2",
                             tlsCertificateKeyFilePassword="hunter2", tls=True)
    assert options.password == "hunter2"
    assert "hunter2" not in repr(options)


@pytest.mark.parametrize("uri", [
    "mongodb://user:hunter2/x@h", "mongodb://user:hunter2:x@h", "mongodb://u:hunter2"])
def test_errors_about_unescaped_passwords_do_not_show_them(uri):
    with pytest.raises((InvalidURI, ValueError)) as caught:
        client_options(uri)
    assert "hunter2" not in str(caught.value)


def test_a_warning_names_the_line_that_made_the_client():
    def constructor(*args):
        return client_options(*args)
    with pytest.warns(UserWarning, match="foo") as caught:
        constructor("mongodb://h/?foo=1")
    assert caught[0].filename == __file__


def test_srv_names_are_left_to_the_caller():
    options = client_options("mongodb+srv://u:p@Cluster.example.com/db?retryWrites=false")
    assert (options.seeds, options.fqdn, options.tls) == ([], "cluster.example.com", True)
    found = options.resolved([("a.example.com", 27017)], "authSource=x&replicaSet=rs")
    assert isinstance(found, ClientOptions)
    assert (found.seeds, found.replica_set, found.auth_source) == ([("a.example.com", 27017)], "rs", "x")
    assert found.retry_writes is False and found.database == "db"
    assert options.replica_set is None


def test_given_options_win_over_the_txt_record():
    options = client_options("mongodb+srv://a.example.com/?replicaSet=mine", tls=False)
    assert options.resolved([("b", 1)], "replicaSet=theirs").replica_set == "mine"
    assert options.resolved([("b", 1)]).tls is False


def test_txt_records_may_not_say_more():
    with pytest.raises(ConfigurationError, match="DNS"):
        client_options("mongodb+srv://a.example.com").resolved([("b", 1)], "tls=false")


@pytest.mark.parametrize("uri", [
    "mongodb+srv://a.b.c/?srvMaxHosts=2&replicaSet=x", "mongodb+srv://a.b.c/?srvMaxHosts=2&loadBalanced=true",
    "mongodb+srv://1.2.3.4", "mongodb+srv://a.b.c/?directConnection=true"])
def test_srv_contradictions(uri):
    with pytest.raises(ConfigurationError):
        client_options(uri)


@pytest.mark.parametrize("row", OPTIONS.values(), ids=lambda row: row.name)
def test_rows_of_the_table_are_whole(row):
    assert row.alias_of is None or row.alias_of.lower() in OPTIONS
    assert pickle.dumps(row.default)
