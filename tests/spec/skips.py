"""Published specification tests that do not run: (folder, file, description) -> reason."""
_SINGLE = "serverSelectionTryOnce is for single-threaded drivers only; it is ignored with a warning"
_PLUS = "a plus sign is a space, as in PyMongo, whose manual tells users to escape with quote_plus"

SKIPS: dict[tuple[str, str, str], str] = {
    ("uri-options", "single-threaded-options.json",
     "Valid options specific to single-threaded drivers are parsed correctly"): _SINGLE,
    ("connection-string", "valid-auth.json",
     "Subdelimiters in user/pass don't need escaping (PLAIN)"): _PLUS,
}
