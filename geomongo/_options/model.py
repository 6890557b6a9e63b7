"""`ClientOptions`: everything that a client was told, checked, as plain attributes."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bson.codec_options import CodecOptions

from geomongo._options.credentials import credentials
from geomongo._options.table import OPTIONS
from geomongo._options.uri import Host, check, refuse_contradictions, split_query
from geomongo.driver_info import DriverInfo
from geomongo.errors import ConfigurationError
from geomongo.monitoring import EventListener, registered_listeners
from geomongo.read_concern import ReadConcern
from geomongo.read_preferences import ServerMode, make_read_preference, read_pref_mode_from_name
from geomongo.server_api import ServerApi
from geomongo.write_concern import WriteConcern

KNOWN_COMPRESSORS = ("snappy", "zlib", "zstd")
MIN_HEARTBEAT_FREQUENCY = 0.5
# What the TXT record of a mongodb+srv:// name may say (initial DNS seedlist discovery specification).
TXT_OPTIONS = frozenset({"authsource", "replicaset", "loadbalanced"})
# These make no sense without TLS, so they switch it on.
_TLS_FILES = ("tlscafile", "tlscertificatekeyfile", "tlscertificatekeyfilepassword", "tlscrlfile")


class ClientOptions:
    """The options of one client. Durations are in seconds, None is "no limit" unless said otherwise.

    `given` holds what was set explicitly, checked, by lower-case name; `warnings` what was ignored and why.
    """

    seeds: list[Host]
    fqdn: str | None
    database: str | None
    given: dict[str, Any]
    warnings: tuple[str, ...]
    connect: bool

    username: str | None
    password: str | None
    auth_source: str
    auth_mechanism: str | None
    auth_mechanism_properties: dict[str, Any]
    auth_oidc_allowed_hosts: list[str] | None

    codec_options: CodecOptions[Any]
    read_preference: ServerMode
    read_concern: ReadConcern
    write_concern: WriteConcern
    retry_reads: bool
    retry_writes: bool
    max_adaptive_retries: int
    enable_overload_retargeting: bool

    server_selection_timeout: float
    local_threshold: float
    heartbeat_frequency: float
    server_monitoring_mode: str
    connect_timeout: float | None
    socket_timeout: float | None
    timeout: float | None
    wait_queue_timeout: float | None
    max_pool_size: int | None
    min_pool_size: int
    max_idle_time: float | None
    max_connecting: int

    app_name: str | None
    driver: DriverInfo | None
    server_api: ServerApi | None
    event_listeners: tuple[EventListener, ...]
    server_selector: Callable[..., Any] | None
    direct_connection: bool
    replica_set: str | None
    load_balanced: bool
    compressors: list[str]
    zlib_compression_level: int

    srv_service_name: str
    srv_max_hosts: int
    srv_allowed_hosts_suffix: str | None
    srv_host_validator: Callable[[str], bool] | None
    proxy_host: str | None
    proxy_port: int
    proxy_username: str | None
    proxy_password: str | None

    tls: bool
    tls_ca_file: str | None
    tls_certificate_key_file: str | None
    tls_certificate_key_file_password: str | None
    tls_crl_file: str | None
    tls_insecure: bool
    tls_allow_invalid_certificates: bool
    tls_allow_invalid_hostnames: bool
    tls_disable_ocsp_endpoint_check: bool
    tls_disable_certificate_revocation_check: bool

    def __init__(self, seeds: list[Host], given: dict[str, Any], database: str | None = None,
                 fqdn: str | None = None, warned: Iterable[str] = ()) -> None:
        refuse_contradictions(given)
        self.seeds = list(dict.fromkeys(seeds))
        self.given = given
        self.database = database
        self.fqdn = fqdn
        notes = list(warned)
        self._set_deployment()
        self._set_timing()
        self._set_pool()
        self._set_reads_and_writes()
        self._set_compression(notes)
        self._set_authentication()
        self._set_tls()
        self._set_proxy()
        self.codec_options = self._codec_options()
        self.warnings = tuple(notes)

    def __repr__(self) -> str:
        return f"ClientOptions(seeds={self.seeds}, fqdn={self.fqdn!r}, options={sorted(self.given)})"

    def resolved(self, seeds: list[Host], txt: str = "") -> ClientOptions:
        """The options once `fqdn` was looked up: its hosts, and the text of its TXT record if there is one.

        Options given to the client win over those of the record. Raises ConfigurationError.
        """
        found, notes = check(split_query(txt)[0], lenient=True) if txt else ({}, [])
        if not TXT_OPTIONS.issuperset(found):
            raise ConfigurationError("Only authSource, replicaSet, and loadBalanced are supported from DNS")
        return ClientOptions(seeds, {**found, **self.given}, self.database, self.fqdn,
                             [*self.warnings, *notes])

    def _get(self, name: str) -> Any:
        return self.given.get(name, OPTIONS[name].default)

    def _set_deployment(self) -> None:
        get = self._get
        self.connect = get("connect")
        self.direct_connection = bool(get("directconnection"))
        self.load_balanced = bool(get("loadbalanced"))
        self.replica_set = get("replicaset")
        self.srv_service_name = get("srvservicename")
        self.srv_max_hosts = get("srvmaxhosts")
        self.srv_allowed_hosts_suffix = get("srvallowedhostssuffix")
        self.srv_host_validator = get("srv_host_validator")
        self.server_selector = get("server_selector")
        self.app_name = get("appname")
        self.driver = get("driver")
        self.server_api = get("server_api")
        self.event_listeners = (*registered_listeners(), *get("event_listeners"))
        self._check_deployment()

    def _check_deployment(self) -> None:
        if self.direct_connection and len(self.seeds) > 1:
            raise ConfigurationError("Cannot specify multiple hosts with directConnection=true")
        if self.direct_connection and self.fqdn:
            raise ConfigurationError("Cannot specify directConnection=true with mongodb+srv:// URIs")
        if self.load_balanced:
            self._check_load_balanced()
        if self.fqdn and self.srv_max_hosts and (self.replica_set or self.load_balanced):
            other = "replicaSet" if self.replica_set else "loadBalanced=true"
            raise ConfigurationError(f"You cannot specify {other} with srvMaxHosts")

    def _check_load_balanced(self) -> None:
        if len(self.seeds) > 1:
            raise ConfigurationError("Cannot specify multiple hosts with loadBalanced=true")
        if self.direct_connection:
            raise ConfigurationError("Cannot specify directConnection=true with loadBalanced=true")
        if self.replica_set:
            raise ConfigurationError("Cannot specify replicaSet with loadBalanced=true")

    def _set_timing(self) -> None:
        get = self._get
        self.server_selection_timeout = get("serverselectiontimeoutms")
        self.local_threshold = get("localthresholdms")
        self.heartbeat_frequency = get("heartbeatfrequencyms")
        self.server_monitoring_mode = get("servermonitoringmode")
        self.connect_timeout = get("connecttimeoutms")
        self.socket_timeout = get("sockettimeoutms")
        self.timeout = get("timeoutms")
        self.wait_queue_timeout = get("waitqueuetimeoutms")
        self.max_idle_time = get("maxidletimems")
        if self.heartbeat_frequency < MIN_HEARTBEAT_FREQUENCY:
            raise ConfigurationError("heartbeatFrequencyMS cannot be less than 500")

    def _set_pool(self) -> None:
        self.max_pool_size = self._get("maxpoolsize") or None
        self.min_pool_size = self._get("minpoolsize")
        self.max_connecting = self._get("maxconnecting")
        if self.max_pool_size is not None and self.min_pool_size > self.max_pool_size:
            raise ValueError("minPoolSize must be smaller or equal to maxPoolSize")

    def _set_reads_and_writes(self) -> None:
        get = self._get
        self.read_preference = self._read_preference()
        self.read_concern = ReadConcern(get("readconcernlevel"))
        self.write_concern = WriteConcern(get("w"), get("wtimeoutms"), get("journal"), get("fsync"))
        self.retry_reads = get("retryreads")
        self.retry_writes = get("retrywrites")
        self.max_adaptive_retries = get("maxadaptiveretries")
        self.enable_overload_retargeting = get("enableoverloadretargeting")

    def _read_preference(self) -> ServerMode:
        given: ServerMode | None = self._get("read_preference")
        if given is not None:
            return given
        mode = read_pref_mode_from_name(self._get("readpreference") or "primary")
        return make_read_preference(mode, self._get("readpreferencetags"), self._get("maxstalenessseconds"))

    def _set_compression(self, notes: list[str]) -> None:
        wanted = self._get("compressors")
        self.compressors = [name for name in wanted if name in KNOWN_COMPRESSORS]
        self.zlib_compression_level = self._get("zlibcompressionlevel")
        notes += [f"Unsupported compressor: {name}" for name in wanted if name not in KNOWN_COMPRESSORS]

    def _set_authentication(self) -> None:
        found = credentials(self.given, self.database)
        self.auth_mechanism = found.mechanism
        self.auth_source = found.source
        self.username = found.username
        self.password = found.password
        self.auth_mechanism_properties = found.properties
        self.auth_oidc_allowed_hosts = self._get("authoidcallowedhosts")

    def _set_tls(self) -> None:
        get = self._get
        files = [OPTIONS[name].name for name in _TLS_FILES if get(name) is not None]
        wanted = get("tls")
        if wanted is False and files:
            raise ConfigurationError(f"TLS has not been enabled but {', '.join(files)} have been set. "
                                     "Set tls=True or remove them.")
        self.tls = bool(files or self.fqdn) if wanted is None else wanted
        self.tls_ca_file = get("tlscafile")
        self.tls_certificate_key_file = get("tlscertificatekeyfile")
        self.tls_certificate_key_file_password = get("tlscertificatekeyfilepassword")
        self.tls_crl_file = get("tlscrlfile")
        self.tls_insecure = bool(get("tlsinsecure"))
        self.tls_allow_invalid_certificates = self.tls_insecure or get("tlsallowinvalidcertificates")
        self.tls_allow_invalid_hostnames = self.tls_insecure or get("tlsallowinvalidhostnames")
        # Without checking certificates there is no point in asking whether they were revoked.
        self.tls_disable_ocsp_endpoint_check = (self.tls_allow_invalid_certificates
                                                or get("tlsdisableocspendpointcheck"))
        self.tls_disable_certificate_revocation_check = (self.tls_allow_invalid_certificates
                                                         or get("tlsdisablecertificaterevocationcheck"))

    def _set_proxy(self) -> None:
        self.proxy_host = self._get("proxyhost")
        self.proxy_port = self._get("proxyport")
        self.proxy_username = self._get("proxyusername")
        self.proxy_password = self._get("proxypassword")

    def _codec_options(self) -> CodecOptions[Any]:
        get = self._get
        chosen: dict[str, Any] = {
            "document_class": get("document_class"),
            "tz_aware": get("tz_aware"),
            "uuid_representation": get("uuidrepresentation"),
            "unicode_decode_error_handler": get("unicode_decode_error_handler"),
            "tzinfo": get("tzinfo"),
            "type_registry": get("type_registry"),
        }
        if get("datetime_conversion") is not None:
            chosen["datetime_conversion"] = get("datetime_conversion")
        return CodecOptions(**chosen)
