"""Asks registries of the registry interoperability protocol, and receives their callbacks.

One file to copy: it needs Python 3.9 or later and the package `cryptography`, and nothing else. It speaks the signature
layout of the specification (`parameters`, `rfc8785`) with Ed25519, ES256 and RS256. It refuses what it cannot do: the
layouts of JWS and raw RSA, other canonical forms, and encrypted messages.
"""
import base64, decimal, hashlib, hmac, json, logging, math, pathlib, re, threading, time, traceback  # noqa: E401
import http.client, urllib.error, urllib.parse, urllib.request, uuid  # noqa: E401
from datetime import datetime, timezone

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature, encode_dss_signature

# Errors ---------------------------------------------------------------------------------------------------------------
class Refused(Exception):
    """A message that must not be believed: the text names a rule, and no value of the message."""
    def __init__(self, code, text, status=400):
        super().__init__(f"{code}: {text}")
        self.code, self.text, self.status = code, text, status
class RegistryRefused(Refused):
    """The registry did not take our request. Its refusals are not signed."""
def bad(text, status=400):
    return Refused("err.request.bad", text, status)
# Strict JSON ----------------------------------------------------------------------------------------------------------
MAX_DEPTH, MAX_NUMBER_LENGTH = 64, 400

def read_json(data):
    """Reads bytes as JSON. Refuses what two readers may understand differently: a member name twice in one object, a
    number that a double would change, a lone surrogate, NUL, NaN. Whole numbers become int, all others float."""
    hooks = {"object_pairs_hook": _object, "parse_int": _number, "parse_float": _number, "parse_constant": _number}
    try:
        value = json.loads(data.decode("utf-8"), **hooks)
        _check_values(value)
        return value
    except (ValueError, ArithmeticError, RecursionError):  # The text of such an error may repeat a value.
        raise bad("body: is not JSON in UTF-8, or is JSON that readers may understand differently") from None

def _object(members):
    value = dict(members)
    if len(value) != len(members):
        raise ValueError("a member name occurs twice")
    return value

def _number(literal):
    number = float(literal) if len(literal) <= MAX_NUMBER_LENGTH and literal.isascii() else math.inf
    if not math.isfinite(number) or decimal.Decimal(repr(number)) != decimal.Decimal(literal):
        raise ValueError("a double would change the number")
    return int(number) if number.is_integer() and abs(number) < 2**53 else number

def _check_values(value, depth=0):
    if isinstance(value, str):
        value.encode("utf-8")  # A lone surrogate has no bytes.
        if "\0" in value:
            raise ValueError("a text has NUL")
    elif isinstance(value, (dict, list)):
        if depth == MAX_DEPTH:
            raise ValueError("nested too deep")
        for element in [*value, *value.values()] if isinstance(value, dict) else value:
            _check_values(element, depth + 1)

# Canonical JSON (RFC 8785) --------------------------------------------------------------------------------------------
def canonical(value):
    """The one text that all systems sign for this value. ValueError: a double would change a number."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return _written(value)
    if isinstance(value, str):
        return _quoted(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(canonical, value))}]"
    # Python compares texts by code points; the order here is that of UTF-16 code units.
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return f"{{{','.join(f'{_quoted(name)}:{canonical(value[name])}' for name in names)}}}"

_quoted = json.JSONEncoder(ensure_ascii=False).encode

def _written(value):
    """A number as ECMAScript writes it: `2e+23`, `3`, `1e-7`, `0.000001`."""
    number = float(value) if isinstance(value, float) or abs(value) < 10**308 else math.inf
    shortest = decimal.Decimal(repr(number))
    if not math.isfinite(number) or (isinstance(value, int) and shortest != value):
        raise ValueError("a double cannot hold the number; send it as a text")
    if number == 0:
        return "0"
    _, parts, exponent = shortest.as_tuple()
    written = "".join(map(str, parts))
    digits, point = written.rstrip("0"), len(written) + exponent  # The decimal point stands behind so many digits.
    if 0 < point <= 21:
        text = digits.ljust(point, "0") if len(digits) <= point else f"{digits[:point]}.{digits[point:]}"
    elif -6 < point <= 0:
        text = f"0.{'0' * -point}{digits}"
    else:
        text = f"{digits[0]}{'.' * (len(digits) > 1)}{digits[1:]}e{point - 1:+d}"
    return f"-{text}" if number < 0 else text

# Keys -----------------------------------------------------------------------------------------------------------------
# By algorithm, its names in a signature: all are read, the first is written.
SPELLINGS = {
    "EdDSA": ("ed25519", "Ed25519", "EdDSA"),
    "ES256": ("ES256", "es256", "ecdsa-p256-sha256"),
    "RS256": ("RS256", "rs256", "rsa-sha256"),
}

def _base64url(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
def _integer(text):
    return int.from_bytes(_base64url(text), "big")
class SigningKey:
    """Our private key, and the `kid` under which the registry knows its public half."""
    def __init__(self, key, kid):
        types = {ed25519.Ed25519PrivateKey: "EdDSA", ec.EllipticCurvePrivateKey: "ES256", rsa.RSAPrivateKey: "RS256"}
        self.key, self.kid = key, kid
        self.algorithm = next(name for base, name in types.items() if isinstance(key, base))

    @classmethod
    def from_file(cls, path, kid=None, password=None):
        """A file with PEM of Ed25519, P-256 or RSA, and its kid; or with a JWK of Ed25519, which has its own."""
        data = pathlib.Path(path).read_bytes()
        if data.lstrip().startswith(b"{"):
            return cls.from_jwk(json.loads(data))
        return cls(serialization.load_pem_private_key(data, password), kid)
    @classmethod
    def from_jwk(cls, jwk):
        return cls(ed25519.Ed25519PrivateKey.from_private_bytes(_base64url(jwk["d"])), jwk["kid"])
    def sign(self, content):
        if self.algorithm == "EdDSA":
            return self.key.sign(content)
        if self.algorithm == "RS256":
            return self.key.sign(content, padding.PKCS1v15(), hashes.SHA256())
        r, s = decode_dss_signature(self.key.sign(content, ec.ECDSA(hashes.SHA256())))
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")

def public_key(jwk):
    """The algorithm and the key of a public JWK; nothing for keys that sign in no way known here."""
    kind = (jwk.get("kty"), jwk.get("crv"))
    if kind == ("OKP", "Ed25519"):
        return "EdDSA", ed25519.Ed25519PublicKey.from_public_bytes(_base64url(jwk["x"]))
    if kind == ("EC", "P-256"):
        numbers = ec.EllipticCurvePublicNumbers(_integer(jwk["x"]), _integer(jwk["y"]), ec.SECP256R1())
        return "ES256", numbers.public_key()
    if kind[0] == "RSA" and 2048 <= _integer(jwk["n"]).bit_length() <= 8192 and _integer(jwk["e"]) == 65537:
        return "RS256", rsa.RSAPublicNumbers(65537, _integer(jwk["n"])).public_key()
    return None, None

def _has_signed(key, algorithm, signature, content):
    try:
        if algorithm == "EdDSA":
            key.verify(signature, content)
        elif algorithm == "RS256":
            key.verify(signature, content, padding.PKCS1v15(), hashes.SHA256())
        else:
            r, s = int.from_bytes(signature[:32], "big"), int.from_bytes(signature[32:], "big")
            key.verify(encode_dss_signature(r, s), content, ec.ECDSA(hashes.SHA256()))
        return algorithm != "ES256" or len(signature) == 64
    except InvalidSignature:
        return False

class KeySet:
    """The public keys of one registry: a JWK set, or the address at which the registry publishes it."""
    FRESH, USABLE, PAUSE = 600, 86_400, 30  # Seconds: until it is fetched again, it may be used, another attempt.
    FIRST_PAUSE = 1  # Until another attempt while none has been fetched.

    def __init__(self, source):
        self._url = source if isinstance(source, str) else None
        _check_addresses(self._url)
        self._keys = [] if self._url else self._read(source)
        self._fetched, self._tried, self._lock = -math.inf, -math.inf, threading.Lock()
    def find(self, kid, algorithm):
        """The keys of this name. A published set is fetched again when it is old, or when it does not have the name."""
        named = lambda: [key for name, spelt, key in self._keys if name == kid and spelt == algorithm]  # noqa: E731
        if self._url is None:
            return named()
        with self._lock:
            now, pause = time.monotonic(), self.FIRST_PAUSE if self._fetched == -math.inf else self.PAUSE
            if now - self._tried > pause and (now - self._fetched > self.FRESH or not named()):
                for _ in range(2):  # An answer that was counted is not lost for one broken connection.
                    try:
                        _, body, _ = send("GET", self._url)
                        self._keys, self._fetched = self._read(read_json(body)), now
                        break
                    except (OSError, Refused, ValueError, KeyError, TypeError, AttributeError):
                        pass  # The keys that were fetched before may be used for a while.
                self._tried = time.monotonic()
            if now - self._fetched > self.USABLE:
                raise OSError("the public keys of the registry cannot be fetched")
            return named()

    @staticmethod
    def _read(jwks):
        return [(jwk.get("kid"), *public_key(jwk)) for jwk in jwks["keys"] if jwk.get("use", "sig") == "sig"]

# Signatures -----------------------------------------------------------------------------------------------------------
NAMES = ("namespace", "kidId", "algorithm", "created", "expires", "headers", "signature")
HEADERS = "(created) (expires) digest"
PLACEHOLDERS = ("", "unsigned", "unsigned-stub", "unsigned-mock", "mock-signature", "signature_validation_disabled",
                "new signature to be generated for request")
SKEW, LONGEST_LIFE = 60, 3600  # Seconds.
DIGESTS = {"": "sha256", "SHA-256=": "sha256", "BLAKE-512=": "blake2b"}
_PARAMETER = re.compile(r'([A-Za-z]+)="([^"\\\x00-\x1f\x7f]*)"(?:\Z|, *(?=[A-Za-z]))')
_WHOLE = re.compile(r"0|[1-9][0-9]{0,10}")

class Peer:
    """A registry whose messages we believe when one of its keys has signed them. `keys` is as KeySet has it."""
    def __init__(self, sender_id, keys, algorithms=("EdDSA",), digest_prefix="", namespaces=("registry",)):
        self.sender_id, self.keys = sender_id, KeySet(keys)
        self.algorithms, self.digest_prefix, self.namespaces = algorithms, digest_prefix, namespaces

def signed_text(header, message, created, expires, digest_prefix=""):
    """The three lines that are signed."""
    content = canonical({"header": header, "message": message}).encode("utf-8")
    digest = base64.b64encode(hashlib.new(DIGESTS[digest_prefix], content).digest()).decode()
    return f"(created): {created}\n(expires): {expires}\ndigest: {digest_prefix}{digest}".encode()

def sign(header, message, key, created=None, life=300, namespace="registry", digest_prefix=""):
    """The text of the member `signature`."""
    created = int(time.time()) if created is None else created
    value = key.sign(signed_text(header, message, created, created + life, digest_prefix))
    name = SPELLINGS[key.algorithm][0]
    kid_id = f"{header['sender_id']}|{key.kid}|{name}"
    values = (namespace, kid_id, name, created, created + life, HEADERS, base64.b64encode(value).decode())
    return ", ".join(f'{name}="{value}"' for name, value in zip(NAMES, values))

def verify(envelope, peer, now):
    """Returns when this peer has signed the header and the message of the envelope, and raises Refused otherwise."""
    signature, header, message = (envelope.get(name) for name in ("signature", "header", "message"))
    if signature is None or signature in PLACEHOLDERS:
        raise Refused("err.signature.missing", "signature: the message is not signed", 401)
    if not isinstance(header, dict) or not isinstance(message, dict):
        raise _invalid("header and message must be there")
    given = _parameters(signature)
    parts = given["kidId"].split("|")
    if len(parts) != 3 or not parts[1] or not parts[0] == header.get("sender_id") == peer.sender_id:
        raise _invalid("kidId must name the sender_id of the header, and a key of it")
    algorithm = next((name for name in peer.algorithms if given["algorithm"] in SPELLINGS[name]), None)
    if algorithm is None or parts[2] != given["algorithm"]:
        raise _invalid("the algorithm must be one that is accepted of this sender")
    if given["namespace"] not in peer.namespaces or given["headers"] != HEADERS:
        raise _invalid("namespace and headers must be those that are accepted")
    if not _WHOLE.fullmatch(given["created"]) or not _WHOLE.fullmatch(given["expires"]):
        raise _invalid("created and expires must be Unix times in whole seconds")
    created, expires = int(given["created"]), int(given["expires"])
    if not 0 < expires - created <= LONGEST_LIFE or created > now + SKEW or expires < now - SKEW:
        raise _invalid("is not fresh")
    value, content = _base64(given["signature"]), signed_text(header, message, created, expires, peer.digest_prefix)
    if not any(_has_signed(key, algorithm, value, content) for key in peer.keys.find(parts[1], algorithm)):
        raise _invalid("no key of the sender has signed this header and message")

def _invalid(rule):
    return Refused("err.signature.invalid", f"signature: {rule}", 401)
def _parameters(text):
    values, at = {}, 0
    if isinstance(text, str):
        at = len("Signature: ") if text.startswith("Signature: ") else 0
        while (found := _PARAMETER.match(text, at)) and found[1] not in values:
            values[found[1]], at = found[2], found.end()
    if set(values) != set(NAMES) or at != len(text):
        raise _invalid('must be a list of name="value", seven of them, each once')
    return values

def _base64(text):
    try:
        value = base64.b64decode(text, validate=True)
    except ValueError:
        value = b""
    if value == b"" or base64.b64encode(value).decode() != text:
        raise _invalid("must be base64 in its one spelling")
    return value

# The client -----------------------------------------------------------------------------------------------------------
MAX_ANSWER = 50 * 2**20  # Bytes.
class _NoRedirects(urllib.request.HTTPRedirectHandler):
    redirect_request = lambda *_: None  # A token and data of a person go to the address that was meant.  # noqa: E731
_opener = urllib.request.build_opener(_NoRedirects)

def _check_addresses(*urls):
    for url in filter(None, urls):
        address = urllib.parse.urlsplit(url)
        if address.scheme != "https" and address.hostname not in ("127.0.0.1", "localhost", "::1"):
            raise ValueError(f"{url} must begin with https:// unless it is an address of this machine")

def send(method, url, body=None, headers=None, timeout=30):
    """One HTTP request: the status, the body and the headers of the answer. OSError: there is no whole answer."""
    try:
        try:
            answer = _opener.open(urllib.request.Request(url, body, headers or {}, method=method), timeout=timeout)
        except urllib.error.HTTPError as error:
            answer = error
        with answer:
            data = answer.read(MAX_ANSWER + 1)
        if len(data) > MAX_ANSWER:
            raise bad("body: the answer is too long")
        if answer.length:  # So many bytes were announced, and did not come.
            raise http.client.IncompleteRead(data, answer.length)
    except http.client.HTTPException as error:  # It is no OSError, as all other failures of a connection are.
        raise OSError(f"the answer broke off ({type(error).__name__})") from None
    return answer.status, data, answer.headers

def _send_until_answered(url, body, headers, attempts=4):
    """Sends the same message again after a lost connection, 429, 502, 503 and 504: a registry answers it once."""
    for attempt in range(attempts):
        is_last, pause = attempt == attempts - 1, 2**attempt
        try:
            status, answer, answered = send("POST", url, body, headers)
            if status not in (429, 502, 503, 504) or is_last:
                return status, answer
            after = answered.get("Retry-After", "")
            pause = min(int(after), 60) if after.isdigit() else pause
        except OSError:
            if is_last:
                raise
        time.sleep(pause)

def now_text():
    return datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
class Registry:
    """One registry that we ask. Its base_url is such as https://registry.example.org/civil/v1.0.0, with the version;
    `peer` says by what we believe its answers."""
    def __init__(self, base_url, peer, sender_id, key, token_url=None, client_id=None, client_secret=None):
        self.base_url, self.peer, self.sender_id, self.key = base_url.rstrip("/"), peer, sender_id, key
        self._token_url, self._token, self._token_ends = token_url, None, -math.inf
        _check_addresses(base_url, token_url)
        form = {"grant_type": "client_credentials", "client_id": client_id, "client_secret": client_secret}
        self._form = urllib.parse.urlencode(form).encode()

    def token(self):
        """An access token, which is used until a minute before it expires; None without a token_url."""
        if self._token_url is not None and time.monotonic() > self._token_ends:
            form = {"Content-Type": "application/x-www-form-urlencoded"}
            status, body = _send_until_answered(self._token_url, self._form, form)
            if status != 200:
                raise RegistryRefused("token", f"the registry gave no access token (HTTP {status})", status)
            answer = read_json(body)
            self._token = answer["access_token"]
            self._token_ends = time.monotonic() + float(answer.get("expires_in", 60)) - 60
        return self._token

    def search(self, *criteria):
        """Asks at once. Returns the header and the message of the answer, which is verified."""
        return self.ask("registry/sync/search", *_search(criteria))

    def search_later(self, *criteria, sender_uri=None):
        """Asks to be called back, at the full address sender_uri, or without it at the address that is registered for
        us. Returns the correlation_id of the callback."""
        header, message = _search(criteria)
        more = {"sender_uri": sender_uri} if sender_uri else {}
        return self.ask_later("registry/search", {**header, **more}, message)

    def ask(self, path, header, message):
        """Asks at once, at any synchronous path. The header has its action, and what else it needs, such as meta."""
        envelope = self._answer(path, header, message)
        verify(envelope, self.peer, time.time())
        if envelope["header"].get("receiver_id") != self.sender_id:
            raise Refused("err.receiver_id.invalid", "header.receiver_id: the answer is not for us")
        if envelope["message"].get("transaction_id") != message["transaction_id"]:
            raise bad("message.transaction_id: the answer is to another request")
        _refuse_encrypted(envelope)
        _refuse_unprocessed(envelope["header"], envelope["message"])
        return envelope["header"], envelope["message"]

    def ask_later(self, path, header, message):
        """Asks to be called back, at any asynchronous path. Returns the correlation_id."""
        return self._answer(path, header, message)["message"]["correlation_id"]

    def _answer(self, path, header, message):
        """Signs and sends one message. Returns the answer, which is not verified."""
        header = {"version": "1.0.0", "message_id": str(uuid.uuid4()), "message_ts": now_text(),
                  "sender_id": self.sender_id, "receiver_id": self.peer.sender_id, "total_count": 1,
                  "is_msg_encrypted": False, **header}
        signature = sign(header, message, self.key, digest_prefix=self.peer.digest_prefix)
        body = canonical({"signature": signature, "header": header, "message": message}).encode()
        status, answer = self._send(f"{self.base_url}/{path}", body)
        if status == 200:
            envelope = _parsed(answer)
            if envelope["message"].get("ack_status", "ACK") == "ACK":
                return envelope
        raise _refusal(status, answer)

    def _send(self, url, body):
        """Sends one message. A token that is refused is replaced once: its key may have been revoked."""
        for is_renewed in (False, True):
            token, headers = self.token(), {"Content-Type": "application/json"}
            headers.update({"Authorization": f"Bearer {token}"} if token else {})
            status, answer = _send_until_answered(url, body, headers)
            if status != 401 or b"err.signature." in answer or not token or is_renewed:
                return status, answer
            self._token_ends = -math.inf

def _search(criteria):
    items = [{"reference_id": str(at), "timestamp": now_text(), "search_criteria": asked}
             for at, asked in enumerate(criteria, 1)]
    message = {"transaction_id": str(uuid.uuid4()), "search_request": items}
    return {"action": "search", "total_count": len(items)}, message
def _refusal(status, body):
    try:
        envelope = _parsed(body)
        error = envelope["message"].get("error") or envelope["errors"][0]
        return RegistryRefused(error["code"], error["message"], status)
    except (Refused, LookupError, TypeError):
        return RegistryRefused("http", f"the registry answered HTTP {status}", status)

def _parsed(body):
    envelope = read_json(body)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("message"), dict):
        raise bad("body: must be an object with a message")
    return envelope
def _refuse_encrypted(envelope):
    if envelope["header"].get("is_msg_encrypted") not in (None, False) or "ciphertext" in envelope["message"]:
        raise Refused("err.encryption.invalid", "message: encrypted messages are not read here")

def _refuse_unprocessed(header, message):
    """The list of items is empty where the whole request was rejected, as if nobody was found. Where each item was
    rejected, the items say more. An answer without a list may be a result: it is a rejection when it has a code."""
    code, lists = header.get("status_reason_code"), [part for part in message.values() if isinstance(part, list)]
    if header.get("status") == "rjct" and not any(lists) and (lists or code is not None):
        raise RegistryRefused(code or "rjct", header.get("status_reason_message") or "nothing was processed", 200)

# The receiver of callbacks --------------------------------------------------------------------------------------------
_TIMESTAMP = re.compile(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_JSON_TYPE = re.compile(r'application/(?:[\w.+-]+\+)?json(?:\s*;\s*charset="?utf-8"?)?', re.ASCII | re.IGNORECASE)

class Memory:
    """Which messages were handled, in this process alone. A system that must not handle a message twice after a restart
    keeps them in a table of its database, with the primary key (sender_id, message_id)."""
    def __init__(self, age, most=100_000):
        self._age, self._most, self._lock = age, most, threading.Lock()
        self._claims = {}  # By sender_id and message_id: when it was claimed, and `busy` or `done`.

    def claim(self, key):
        """`new`: it is ours to handle now. `busy`: it is being handled. `done`: it was handled."""
        with self._lock:
            now = time.monotonic()
            oldest = lambda: next(iter(self._claims.values()))[0]  # noqa: E731
            while self._claims and (len(self._claims) >= self._most or oldest() < now - self._age):
                del self._claims[next(iter(self._claims))]
            if key in self._claims:
                return self._claims[key][1]
            self._claims[key] = (now, "busy")
            return "new"

    def settle(self, key, is_handled):
        """A message that was not handled is new when it comes again."""
        with self._lock:
            self._claims.pop(key, None)
            if is_handled:
                self._claims[key] = (time.monotonic(), "done")
class Receiver:
    """Takes callbacks: believes what a known registry has signed for us, handles it once, and acknowledges it then.

    `handlers` is by action, such as `on-search`. A handler is called with the header and the message: when it returns,
    the callback is acknowledged, and when it raises, the registry sends it again. `authorization` is what that header
    must say, where the registry was told to send one. Messages older than `oldest` seconds are refused: 15 days, as a
    registry sends a notification for 14 days, each time with the time of the first attempt and a new signature."""
    def __init__(self, sender_id, peers, handlers, authorization=None, memory=None, max_body=10 << 20, oldest=1296000):
        self.sender_id, self.handlers, self.authorization = sender_id, handlers, authorization
        self.peers = {peer.sender_id: peer for peer in peers}
        self.memory, self.max_body, self.oldest = memory or Memory(oldest + 600), max_body, oldest

    def receive(self, body, content_type, authorization=None, now=None):
        """The status and the body of the HTTP answer to a POST. Whoever reads the body of the request stops at
        `max_body` bytes and one more."""
        try:
            return 200, _ack("ACK", self._take(body, content_type, authorization, time.time() if now is None else now))
        except Refused as refusal:
            return refusal.status, _ack("ERR", None, refusal.code, refusal.text)
        except Exception as error:  # Whatever failed here, the registry sends the message again.
            place = "".join(traceback.format_tb(error.__traceback__))  # The text of an error may be data of persons.
            logging.getLogger("rollcall").error("a callback was not handled: %s\n%s", type(error).__name__, place)
            return 500, _ack("ERR", None, "err.service.unavailable", "the message was not handled; send it again later")

    def _take(self, body, content_type, authorization, now):
        wanted = self.authorization
        if wanted is not None and not hmac.compare_digest((authorization or "").encode(), wanted.encode()):
            raise Refused("err.request.unauthorized", "the access token is missing or not valid", 401)
        if len(body) > self.max_body:
            raise bad("body: is too long", 413)
        if not _JSON_TYPE.fullmatch(content_type or ""):
            raise bad("Content-Type: must be application/json", 415)
        # Who says it? Nothing of the message is believed before its signature is verified.
        envelope = _parsed(body)
        header, message = envelope.get("header"), envelope["message"]
        header = header if isinstance(header, dict) else {}
        if not all(isinstance(header.get(name), str) for name in ("sender_id", "action", "message_id")):
            raise bad("header: sender_id, action and message_id must be texts")
        sender_id, action = header["sender_id"], header["action"]
        if sender_id not in self.peers:
            # With this status it is sent again, also when we wrote the name of a registry wrongly.
            known = "header.sender_id: must be a registry that this receiver knows"
            raise Refused("err.sender_id.invalid", known, 403)
        verify(envelope, self.peers[sender_id], now)
        # Is it for us, is it fresh, and does somebody here take it?
        if header.get("receiver_id") != self.sender_id:
            raise Refused("err.receiver_id.invalid", "header.receiver_id: is not this system")
        if not -300 <= now - _seconds(header.get("message_ts")) <= self.oldest:
            raise bad("header.message_ts: is too old, or in the future")
        _refuse_encrypted(envelope)
        if action not in self.handlers:
            raise Refused("err.request.not_found", "header.action: nothing here takes it", 404)
        # A message comes again until it is acknowledged: it is handled once, and acknowledged after that.
        key = (sender_id, header["message_id"])
        claim = self.memory.claim(key)
        if claim == "busy":
            raise Refused("err.service.unavailable", "the message is being handled; send it again later", 503)
        if claim == "new":
            is_handled = False
            try:
                self.handlers[action](header, message)
                is_handled = True
            finally:
                self.memory.settle(key, is_handled)
        return message.get("correlation_id")

def _seconds(timestamp):
    found = _TIMESTAMP.fullmatch(str(timestamp))
    try:
        return datetime.fromisoformat(found[1] + found[2].replace("Z", "+00:00")).timestamp()
    except (TypeError, ValueError):
        raise bad("header.message_ts: must be a date-time with a time zone") from None

def _ack(status, correlation_id, code=None, text=None):
    known = correlation_id if isinstance(correlation_id, str) else str(uuid.uuid4())
    message = {"ack_status": status, "timestamp": now_text(), "correlation_id": known}
    error = {"code": code, "message": text}
    answer = {"message": message} if code is None else {"message": {**message, "error": error}, "errors": [error]}
    return json.dumps(answer).encode()
