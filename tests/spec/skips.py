"""Published specification tests that do not run: (folder, file, description) -> reason.

Where a file is one case, the file may be a pattern and the description is empty.
"""
_SINGLE = "serverSelectionTryOnce is for single-threaded drivers only; it is ignored with a warning"
_PLUS = "a plus sign is a space, as in PyMongo, whose manual tells users to escape with quote_plus"
_ERRORS = "applicationErrors drive connections of a pool; the runner for them comes with error handling"
_MONITORING = "SDAM events are not published yet"
_DEPRIORITIZED = "no operation deprioritizes a server yet: that comes with retries on another server"

SKIPS: dict[tuple[str, str, str], str] = {
    ("uri-options", "single-threaded-options.json",
     "Valid options specific to single-threaded drivers are parsed correctly"): _SINGLE,
    ("connection-string", "valid-auth.json",
     "Subdelimiters in user/pass don't need escaping (PLAIN)"): _PLUS,
    ("server-discovery-and-monitoring/tests/errors", "*", ""): _ERRORS,
    ("server-discovery-and-monitoring/tests/monitoring", "*", ""): _MONITORING,
    ("server-selection/tests/server_selection", "*/Deprioritized*.json", ""): _DEPRIORITIZED,
}
