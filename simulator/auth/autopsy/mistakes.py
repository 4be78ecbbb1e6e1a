"""The table of known mistakes: what the client does, in words, and what to do instead.

A mistake is made at a place: in a part of the canonical string, in how the parts are joined, in the key of the HMAC, in
its algorithm, or in how the signature is written. Two mistakes of different places can be found together. Sentences end
without a full stop; `{}` in one stands for what the request has there.
"""

from enum import Enum
from typing import NamedTuple


class Place(Enum):
    """Where a mistake is made; the value is what the place is called in words."""

    TIMESTAMP = "timestamp"
    NONCE = "nonce"
    METHOD = "method"
    QUERY = "query"
    BODY_HASH = "body hash"
    STRING = "string"
    KEY = "key"
    ALGORITHM = "algorithm"
    ENCODING = "encoding"
    PREFIX = "prefix"


class Mistake(NamedTuple):
    """One known mistake. `does` says what the client does, `fix` what it should do."""

    id: str
    place: Place
    does: str
    fix: str

    @property
    def sentence(self) -> str:
        """Both in one sentence."""
        return f"{self.does}; {self.fix}"


def _table(place: Place, *rows: tuple[str, str, str]) -> tuple[Mistake, ...]:
    return tuple(Mistake(name, place, does, fix) for name, does, fix in rows)


_SECONDS = "sign the whole seconds of the header"
_EXACT = "sign the value of the header, to the character"
_HASH = "sign the Base64 of the SHA-256 of the exact bytes that are sent"
_RAW = "sign the text that is sent, sorted by key"
_QUERY = (
    "sign what follows the ? as it is sent, sorted by key, without parameters that have no = (of equal keys and empty "
    "values assume.repeated-query-keys and assume.empty-query-values say more)"
)
_HASH_ALWAYS = "sign the body hash; without a body that is the hash of no bytes"
_ONLY = "send the 44 characters of the signature and nothing else"
_SIX = "v1:<timestamp>:<nonce>:<METHOD>:<query>:<body hash>"
_KEY = "the key of the HMAC is the API key's secret, decoded from Base64"
_BASE64 = "encode the raw digest in Base64"
_RESERIALISED = "serialise once, sign these bytes and send them"

MISTAKES: tuple[Mistake, ...] = (
    *_table(
        Place.TIMESTAMP,
        ("timestamp-in-milliseconds", "the timestamp is signed in milliseconds", _SECONDS),
        ("timestamp-with-fraction", "the timestamp is signed with a fraction", _SECONDS),
        ("timestamp-as-date", "the timestamp is signed as a date", _SECONDS),
        ("timestamp-in-seconds", "the timestamp is signed in seconds, and sent in milliseconds",
         "send the seconds that you sign"),
        ("timestamp-missing", "the timestamp is empty in the signed string", _EXACT),
        ("timestamp-another", "another timestamp is signed than sent", "read the clock once for both"),
    ),
    *_table(
        Place.NONCE,
        ("nonce-in-lower-case", "the nonce is signed in lower case", _EXACT),
        ("nonce-in-upper-case", "the nonce is signed in upper case", _EXACT),
        ("nonce-without-dashes", "the nonce is signed without its dashes", _EXACT),
        ("nonce-encoded", "the nonce is signed in Base64 or hexadecimal", _EXACT),
        ("nonce-quoted", "the nonce is signed in quotes", _EXACT),
        ("nonce-missing", "the nonce is empty in the signed string", _EXACT),
        ("nonce-another", "the nonce of another request is signed", "make one nonce for the header and the string"),
    ),
    *_table(
        Place.METHOD,
        ("method-in-lower-case", "the method is in lower case", "sign the method in capitals"),
        ("method-capitalised", "the method has one capital", "sign all of the method in capitals"),
        ("method-another", "another method is signed than sent", "sign the method that is sent"),
        ("method-missing", "the method is empty in the signed string", "sign the method that is sent"),
    ),
    *_table(
        Place.QUERY,
        ("query-not-sorted", "the query is not sorted by key", "sort the parameters of the query by key"),
        ("query-as-sent", "the query is signed as it is sent",
         "sort the query by key and leave out parameters without ="),
        ("query-left-out", "the query was left out", _QUERY),
        ("query-is-path", "the path is signed instead of the query", _QUERY),
        ("query-with-path", "the path is signed together with the query", "sign what follows the ?, sorted by key"),
        ("query-is-url", "the whole URL is signed instead of the query", "sign what follows the ?, sorted by key"),
        ("query-with-question-mark", "the query keeps its question mark", "sign what follows the question mark"),
        ("parameter-without-equals", "{} has no =, so it is not part of the canonical string",
         "leave out every parameter that has no ="),
        ("query-ignoring-case", "the query is sorted regardless of case; capitals come first",
         "sort the query by bytes"),
        ("query-sorted-by-value", "the query is sorted by value", "sort the parameters of the query by key"),
        ("query-sorted-descending", "the query is sorted in descending order", "sort the query ascending by key"),
        ("query-decoded", "the query is percent-decoded", "sign the query as it is sent"),
        ("query-encoded-otherwise", "the query is encoded otherwise than it is sent", _RAW),
        ("query-encoded-twice", "the query is percent-encoded once more than it is sent", _RAW),
        ("query-in-lower-case", "the query is signed in lower case", _RAW),
        ("query-without-separators", "the parameters of the query are signed without & between them", _RAW),
        ("query-is-literal", "{} is signed as the query", _QUERY),
        ("query-as-json", "the parameters of the query are signed as JSON", _QUERY),
        ("repeated-key-once", "of a repeated key only one parameter is signed", "sign each of them"),
        ("empty-value-without-equals", "a parameter with an empty value is signed without its =",
         "keep the = of the parameter"),
        ("repeated-keys-by-value", "equal keys are sorted by value",
         "sort by key alone, equal keys stay in the order sent (assume.repeated-query-keys)"),
        ("repeated-keys-as-sent", "equal keys are signed in the order sent", "sort by key, and equal keys by value "
         "(assume.repeated-query-keys)"),
        ("empty-values-in", "parameters with an empty value are signed", "leave them out (assume.empty-query-values)"),
        ("empty-values-out", "parameters with an empty value are not signed", "sign them, too "
         "(assume.empty-query-values)"),
    ),
    *_table(
        Place.BODY_HASH,
        ("body-hash-hexadecimal", "the body hash is hexadecimal", "encode the body hash in Base64"),
        ("body-hash-base64-of-hex", "the body hash is the Base64 of the hexadecimal text",
         "encode the raw digest of the body"),
        ("body-hash-url-safe", "the body hash is in the URL-safe alphabet", "use + and / in the body hash"),
        ("body-hash-without-padding", "the body hash has lost its padding", "keep the = at the end of the body hash"),
        ("body-hash-missing", "the body hash is missing", _HASH_ALWAYS),
        ("body-hash-encoded-twice", "the body hash was encoded in Base64 twice", "encode the body hash once"),
        ("body-hashed-twice", "the body was hashed twice", "hash the body once, and encode the raw digest in Base64"),
        ("body-not-hashed", "the body itself is signed instead of its hash", _HASH),
        ("body-only-encoded", "the body is signed in Base64, without a hash", _HASH),
        ("body-hash-of-nothing", "the hash of an empty body was signed, but a body was sent", _HASH),
        ("body-hash-not-empty", "a body was hashed, but none was sent", "without a body hash no bytes at all"),
        ("body-hash-other-algorithm", "the body was hashed with {}", "hash the body with SHA-256"),
        ("body-hash-keyed", "the body hash is an HMAC with the secret", "hash the body with SHA-256, without a key"),
        ("body-serialised-again", "the body was serialised again after signing", "sign the bytes that are sent"),
        ("body-sorted", "the members of the body were sorted for signing", _RESERIALISED),
        ("body-numbers-rewritten", "numbers of the body are written otherwise in what was signed", _RESERIALISED),
        ("body-encoded-twice", "the body was signed as a JSON string that has the JSON in it", _RESERIALISED),
        ("body-object-printed", "[object Object] was signed as the body", _RESERIALISED),
        ("body-as-form", "the body was signed as a form, and sent as JSON", _RESERIALISED),
        ("body-line-end", "a line end at the end of the body was signed and not sent, or sent and not signed", _HASH),
        ("body-line-ends", "the line ends of the body were changed after signing", _HASH),
        ("body-other-charset", "the body was signed in {}", "sign the bytes of UTF-8 that are sent"),
        ("body-byte-order-mark", "a byte order mark was signed and not sent, or sent and not signed", _HASH),
    ),
    *_table(
        Place.STRING,
        ("version-missing", "the leading v1: is missing from the canonical string", "begin the string with v1:"),
        ("version-otherwise", "the canonical string begins otherwise than with v1:", "begin the string with v1:"),
        ("line-feeds", "the parts are joined with line feeds instead of colons", "join the parts with colons"),
        ("no-separators", "the parts are joined without colons", "join the parts with colons"),
        ("other-separators", "the parts are joined with {} instead of colons", "join the parts with colons"),
        ("string-ends-in-line-feed", "the canonical string ends in a line feed",
         "let the string end with the body hash"),
        ("string-ends-otherwise", "the canonical string has {} at its end", "let the string end with the body hash"),
        ("nonce-before-timestamp", "the nonce stands before the timestamp", "the timestamp comes first"),
        ("other-order", "the parts have another order: {}", f"sign {_SIX}"),
        ("query-left-out-with-colon", "the query was left out together with its colon",
         "sign the query between two colons, also an empty one"),
        ("body-hash-left-out", "the body hash was left out together with its colon",
         _HASH_ALWAYS),
        ("nonce-left-out", "the nonce was left out together with its colon", f"sign {_SIX}"),
        ("timestamp-left-out", "the timestamp was left out together with its colon", f"sign {_SIX}"),
        ("method-left-out", "the method was left out together with its colon", f"sign {_SIX}"),
        ("key-in-string", "the API key is part of the signed string", f"sign {_SIX}"),
        ("path-in-string", "the path is one more part of the signed string", f"sign {_SIX}"),
        ("string-in-lower-case", "the whole string is signed in lower case", "leave the string as it is made"),
        ("string-in-capitals", "the whole string is signed in capitals", "leave the string as it is made"),
        ("string-hashed-first", "the string is hashed before the HMAC", "give the string itself to the HMAC"),
        ("string-encoded-first", "the string is encoded in Base64 before the HMAC",
         "give the bytes of the string to the HMAC"),
        ("string-in-utf-16", "the string is encoded in UTF-16", "encode the string in ASCII or UTF-8"),
        ("only-body-signed", "only the body is signed", f"sign {_SIX}"),
    ),
    *_table(
        Place.KEY,
        ("secret-not-decoded", "the secret was used as text", "decode the secret from Base64 first"),
        ("secret-url-safe", "the secret's text was decoded with the wrong alphabet, or changed to - and _",
         "decode the secret as standard Base64"),
        ("secret-with-blanks", "the secret was used with a blank or line end",
         "strip the secret and decode it from Base64"),
        ("secret-in-quotes", "the secret was used with quotes around it",
         "strip the quotes and decode the secret from Base64"),
        ("secret-without-padding", "the secret was used as text without its =", "decode the secret from Base64 first"),
        ("secret-decoded-twice", "the secret was decoded from Base64 twice", "decode the secret once"),
        ("secret-hexadecimal", "the secret's bytes were used as hexadecimal text", "use the secret's bytes themselves"),
        ("secret-as-characters", "the secret's bytes were made a text and encoded again",
         "use the secret's bytes themselves"),
        ("secret-hashed", "the secret was hashed before use", _KEY),
        ("secret-lower-case", "the secret was changed to lower or upper case", "use the secret as it was shown"),
        ("secret-with-key", "the API key and the secret together were used as the key", _KEY),
        ("secret-is-api-key", "the API key was used as the secret", _KEY),
        ("secret-is-empty", "the secret is empty", "check where your client takes the secret from"),
        ("secret-of-another", "the secret is that of {}", "use the secret that belongs to the key"),
        ("secret-replaced", "the secret was replaced by a newer one, or is not that of an API key",
         "use the present secret of the key"),
    ),
    *_table(
        Place.ALGORITHM,
        ("sha-1", "the signature was made with SHA-1", "use HMAC-SHA256"),
        ("sha-512", "the signature was made with SHA-512", "use HMAC-SHA256"),
        ("sha-384", "the signature was made with SHA-384", "use HMAC-SHA256"),
        ("md5", "the signature was made with MD5", "use HMAC-SHA256"),
        ("sha3-256", "the signature was made with SHA3-256", "use HMAC-SHA256"),
        ("key-and-string-swapped", "the string is the key of the HMAC, and the secret its message",
         "make the secret the key and the string the message"),
        ("hash-without-hmac", "secret and string were hashed together, without HMAC", "use HMAC-SHA256"),
        ("hash-without-secret", "the string was hashed without the secret", "use HMAC-SHA256 with the secret"),
    ),
    *_table(
        Place.ENCODING,
        ("signature-hexadecimal", "the signature is hexadecimal", _BASE64),
        ("signature-base64-of-hex", "the signature is hexadecimal text in Base64", _BASE64),
        ("signature-url-safe", "the signature is in the URL-safe alphabet", "use + and / in the signature"),
        ("signature-without-padding", "the signature has lost its padding", "keep the = at the end of the signature"),
        ("signature-with-blanks", "the signature has blanks or line ends", _ONLY),
        ("signature-in-quotes", "the signature has quotes around it", _ONLY),
        ("signature-as-python-bytes", "the signature is written as Python prints bytes, b'...'",
         "decode the bytes of the Base64 to a text before they are put into the header"),
        ("signature-percent-encoded", "the signature is percent-encoded", "send the signature as it is"),
        ("signature-encoded-twice", "the signature was encoded in Base64 twice", "encode the signature once"),
        ("signature-cut", "only the first {} of the signature are sent", _ONLY),
        ("signature-too-long", "something follows the signature", _ONLY),
        ("signature-twice", "the signature is written twice", _ONLY),
        ("signature-case-changed", "the letters of the signature were changed to one case",
         "send the signature as Base64 writes it"),
    ),
    *_table(
        Place.PREFIX,
        ("signature-without-v1", "X-Signature does not begin with v1=", "put v1= before the signature"),
        ("signature-v1-twice", "X-Signature begins with v1= twice", "put v1= before the signature once"),
        ("signature-other-prefix", "X-Signature begins otherwise than with v1=", "put v1= before the signature"),
    ),
)  # fmt: skip

BY_ID = {mistake.id: mistake for mistake in MISTAKES}


class Found(NamedTuple):
    """A mistake that a request has; `shown` is what stands for `{}` in its words."""

    id: str
    shown: str = ""

    @property
    def mistake(self) -> Mistake:
        """Its row of the table."""
        return BY_ID[self.id]

    @property
    def does(self) -> str:
        """What the client does."""
        return self.mistake.does.format(self.shown)

    @property
    def sentence(self) -> str:
        """What the client does and how to mend it."""
        return f"{self.does}; {self.mistake.fix}"
