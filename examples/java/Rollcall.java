import com.fasterxml.jackson.core.*;
import com.fasterxml.jackson.databind.*;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.*;
import java.io.*;
import java.math.*;
import java.net.*;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.file.*;
import java.security.*;
import java.security.spec.*;
import java.time.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.function.BiConsumer;
import java.util.regex.*;
import static java.nio.charset.StandardCharsets.UTF_8;

/**
 * Asks registries of the registry interoperability protocol, and receives their callbacks.
 *
 * One file to copy: it needs Java 17 and Jackson 2.13 or later (jackson-databind). It speaks the signature layout of
 * the specification (parameters, rfc8785) with Ed25519. It refuses what it cannot do: other algorithms, the layouts of
 * JWS and raw RSA, other canonical forms, prefixes of the digest, and encrypted messages.
 */
public final class Rollcall {
  /** A message that must not be believed, or a request that the registry did not take. The text names a rule, and no
   *  value of the message. */
  public static final class Refused extends RuntimeException {
    public final String code;
    public final int status;
    Refused(String code, String text, int status) {
      super(text);
      this.code = code;
      this.status = status;
    }
    @Override public String toString() { return getClass().getName() + ": " + code + ": " + getMessage(); }
  }

  private static void require(boolean holds, String code, int status, String rule) {
    if (!holds) throw new Refused(code, rule, status);
  }
  private static final String BAD = "err.request.bad", UNSIGNED = "err.signature.invalid";
  // JSON ------------------------------------------------------------------------------------------------------------
  private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
  private static final JsonMapper STRICT = JsonMapper.builder().enable(
    DeserializationFeature.FAIL_ON_READING_DUP_TREE_KEY, DeserializationFeature.FAIL_ON_TRAILING_TOKENS,
    DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS).build();
  private static final Pattern TEXT = Pattern.compile("\"(?:[^\"\\\\]++|\\\\.)*+\""),
    LONG_NUMBER = Pattern.compile("[-+.\\w]{400}");
  private static final int MAX_DEPTH = 64;
  /** Reads bytes as JSON. Refuses what two readers may understand differently, because it has no canonical form: a
   *  member name twice in one object, a number that a double would change, a lone surrogate, NUL, NaN. */
  public static JsonNode readJson(byte[] data) {
    try {
      String text = UTF_8.newDecoder().decode(ByteBuffer.wrap(data)).toString();
      // Java would read a number of a million digits for minutes.
      if (LONG_NUMBER.matcher(TEXT.matcher(text).replaceAll("")).find()) throw new IOException("a long number");
      JsonNode value = STRICT.readTree(text);
      canonical(value, 0);
      return value;
    } catch (IOException | IllegalArgumentException error) { // The text of such an error may repeat a value.
      String rule = "body: is not JSON in UTF-8, or is JSON that readers may understand differently";
      throw new Refused(BAD, rule, 400);
    }
  }
  /** The one text that all systems sign for this value (RFC 8785). IllegalArgumentException: it has none. */
  public static String canonical(JsonNode value) { return canonical(value, 0); }

  private static String canonical(JsonNode value, int depth) {
    boolean isTooDeep = value.isContainerNode() && depth == MAX_DEPTH;
    if (value.isMissingNode() || isTooDeep) throw new IllegalArgumentException("no value, or nested too deep");
    if (value.isTextual()) return quoted(value.textValue());
    if (value.isNumber()) return written(value);
    if (!value.isContainerNode()) return value.asText();
    StringJoiner parts = new StringJoiner(",", value.isObject() ? "{" : "[", value.isObject() ? "}" : "]");
    TreeSet<String> names = new TreeSet<>(); // Java compares texts by UTF-16 code units, as RFC 8785 does.
    value.fieldNames().forEachRemaining(names::add);
    for (String name : names) parts.add(quoted(name) + ":" + canonical(value.get(name), depth + 1));
    if (value.isArray()) value.forEach(element -> parts.add(canonical(element, depth + 1)));
    return parts.toString();
  }
  private static String quoted(String value) {
    StringBuilder text = new StringBuilder("\"");
    value.codePoints().forEach(point -> {
      if (point == 0 || (point >= 0xd800 && point <= 0xdfff)) throw new IllegalArgumentException("NUL, surrogate");
      int at = "\b\t\n\f\r\"\\".indexOf(point);
      if (at >= 0) text.append('\\').append("btnfr\"\\".charAt(at));
      else if (point < 0x20) text.append("\\u%04x".formatted(point));
      else text.appendCodePoint(point);
    });
    return text.append('"').toString();
  }
  /** A number as ECMAScript writes it: 2e+23, 3, 1e-7, 0.000001. */
  private static String written(JsonNode value) {
    double number = value.doubleValue();
    // A text with more digits than its number needs is refused: it is enough to begin with one digit fewer.
    int fewest = value.isDouble() ? 1 : Math.max(value.decimalValue().stripTrailingZeros().precision() - 1, 1);
    BigDecimal shortest = Double.isFinite(number) ? shortest(number, fewest) : null;
    boolean isExact = shortest != null && (value.isDouble() || shortest.compareTo(value.decimalValue()) == 0);
    if (!isExact) throw new IllegalArgumentException("a double cannot hold the number; send it as a text");
    if (number == 0) return "0";
    String all = shortest.unscaledValue().abs().toString(), digits = all.replaceAll("0+$", ""), text;
    int point = all.length() - shortest.scale(), length = digits.length(); // The point stands behind so many digits.
    if (point <= 0 && point > -6) text = "0." + "0".repeat(-point) + digits;
    else if (point >= length && point <= 21) text = digits + "0".repeat(point - length);
    else if (point > 0 && point <= 21) text = digits.substring(0, point) + "." + digits.substring(point);
    else text = "%s%s%se%+d".formatted(digits.charAt(0), length > 1 ? "." : "", digits.substring(1), point - 1);
    return number < 0 ? "-" + text : text;
  }
  /** The decimal number with the fewest digits that is read as this double: Double.toString of Java 17 has more. */
  private static BigDecimal shortest(double number, int fewest) {
    BigDecimal exact = new BigDecimal(number);
    for (int digits = fewest; ; digits++) {
      for (RoundingMode mode : List.of(RoundingMode.HALF_EVEN, RoundingMode.DOWN, RoundingMode.UP)) {
        BigDecimal rounded = exact.round(new MathContext(digits, mode));
        if (rounded.doubleValue() == number) return rounded;
      }
    }
  }
  // Keys ------------------------------------------------------------------------------------------------------------
  /** Our private key of Ed25519, and the kid under which the registry knows its public half. */
  public record SigningKey(PrivateKey key, String kid) {
    /** A file with PEM (PKCS #8) and its kid, or with a JWK, which has its own. */
    public static SigningKey fromFile(Path path, String kid) throws IOException, GeneralSecurityException {
      String text = Files.readString(path).strip();
      if (text.startsWith("{")) return fromJwk(STRICT.readTree(text));
      byte[] encoded = Base64.getMimeDecoder().decode(text.replaceAll("-----[^-]*-----", ""));
      return new SigningKey(KeyFactory.getInstance("Ed25519").generatePrivate(new PKCS8EncodedKeySpec(encoded)), kid);
    }
    public static SigningKey fromJwk(JsonNode jwk) throws GeneralSecurityException {
      byte[] seed = Base64.getUrlDecoder().decode(jwk.path("d").asText());
      KeySpec spec = new EdECPrivateKeySpec(NamedParameterSpec.ED25519, seed);
      return new SigningKey(KeyFactory.getInstance("Ed25519").generatePrivate(spec), jwk.path("kid").asText());
    }
  }

  /** The public keys of one registry: a JWK set, or the address at which the registry publishes it. */
  public static final class KeySet {
    private static final String X509 = "302a300506032b6570032100"; // What stands before the 32 bytes of a public key.
    private final String address;
    private Map<String, PublicKey> keys = Map.of();
    private double fetched = NEVER, tried = NEVER;
    /** @param source the address, or the text of the JWK set */
    public KeySet(String source) throws GeneralSecurityException {
      address = source.startsWith("{") ? null : source;
      if (address == null) keys = read(readJson(source.getBytes(UTF_8)));
      else https(address);
    }
    /** The key of this name, or null. The set is fetched again when it is old, or when it does not have the name. */
    private synchronized PublicKey find(String kid) throws Exception {
      double now = seconds(), pause = fetched == NEVER ? 1 : 30;
      boolean isOld = now - fetched > 600 || !keys.containsKey(kid);
      if (address != null && isOld && now - tried > pause) {
        // An answer that was counted is not lost for one broken connection.
        for (int attempt = 1; attempt <= 2 && fetched != now; attempt++) {
          try {
            keys = read(readJson(send(HttpRequest.newBuilder(https(address)).GET()).body()));
            fetched = now;
          } catch (IOException | GeneralSecurityException | RuntimeException error) { /* Old keys serve for a day. */ }
        }
        tried = seconds();
      }
      if (address == null || now - fetched <= 86_400) return keys.get(kid);
      throw new IOException("the public keys of the registry cannot be fetched");
    }
    private static Map<String, PublicKey> read(JsonNode jwks) throws GeneralSecurityException {
      if (!jwks.path("keys").isArray()) throw new IllegalArgumentException("a JWK set must have keys");
      Map<String, PublicKey> found = new HashMap<>();
      for (JsonNode jwk : jwks.get("keys")) {
        if (!jwk.path("crv").asText().equals("Ed25519") || !jwk.path("use").asText("sig").equals("sig")) continue;
        String x = HexFormat.of().formatHex(Base64.getUrlDecoder().decode(jwk.path("x").asText()));
        KeySpec spec = new X509EncodedKeySpec(HexFormat.of().parseHex(X509 + x));
        found.put(jwk.path("kid").asText(), KeyFactory.getInstance("Ed25519").generatePublic(spec));
      }
      return found;
    }
  }
  // Signatures ------------------------------------------------------------------------------------------------------
  private static final Set<String> SPELLINGS = Set.of("ed25519", "Ed25519", "EdDSA"),
    NAMES = Set.of("namespace", "kidId", "algorithm", "created", "expires", "headers", "signature"),
    PLACEHOLDERS = Set.of("", "unsigned", "unsigned-stub", "unsigned-mock", "mock-signature",
      "signature_validation_disabled", "new signature to be generated for request");
  private static final String HEADERS = "(created) (expires) digest";
  private static final int SKEW = 60, LONGEST_LIFE = 3600; // Seconds.
  private static final Pattern PARAMETER =
    Pattern.compile("([A-Za-z]+)=\"([^\"\\\\\\x00-\\x1f\\x7f]*)\"(?:\\z|, *(?=[A-Za-z]))");

  /** A registry whose messages we believe when one of its keys has signed them. */
  public record Peer(String senderId, KeySet keys, Set<String> namespaces) {
    public Peer(String senderId, KeySet keys) { this(senderId, keys, Set.of("registry")); }
  }

  /** The three lines that are signed. */
  private static byte[] signedText(JsonNode header, JsonNode message, String created, String expires) throws Exception {
    String content = "{\"header\":" + canonical(header) + ",\"message\":" + canonical(message) + "}";
    byte[] digest = MessageDigest.getInstance("SHA-256").digest(content.getBytes(UTF_8));
    return "(created): %s\n(expires): %s\ndigest: %s".formatted(created, expires, encoded(digest)).getBytes(UTF_8);
  }
  private static String encoded(byte[] bytes) { return Base64.getEncoder().encodeToString(bytes); }
  /** The text of the member signature, for five minutes. */
  private static String sign(JsonNode header, JsonNode message, SigningKey key) throws Exception {
    long now = Instant.now().getEpochSecond();
    String created = String.valueOf(now), expires = String.valueOf(now + 300);
    Signature signature = Signature.getInstance("Ed25519");
    signature.initSign(key.key);
    signature.update(signedText(header, message, created, expires));
    String list = "namespace='registry', kidId='%s|%s|ed25519', algorithm='ed25519', created='%s', expires='%s', "
      + "headers='%s', signature='%s'", sender = header.get("sender_id").textValue();
    return list.replace('\'', '"').formatted(sender, key.kid, created, expires, HEADERS, encoded(signature.sign()));
  }
  /** Returns when this peer has signed the header and the message of the envelope, and throws Refused otherwise. */
  static void verify(JsonNode envelope, Peer peer, Instant now) throws Exception {
    JsonNode given = envelope.path("signature"), header = envelope.path("header"), message = envelope.path("message");
    boolean isThere = !given.isMissingNode() && !given.isNull() && !PLACEHOLDERS.contains(given.asText("-"));
    require(isThere, "err.signature.missing", 401, "signature: the message is not signed");
    requireSigned(header.isObject() && message.isObject(), "header and message must be there");
    Map<String, String> values = parameters(given.isTextual() ? given.textValue() : "-");
    String[] parts = values.get("kidId").split("\\|", -1);
    boolean isOfSender = parts.length == 3 && !parts[1].isEmpty() && parts[0].equals(peer.senderId);
    isOfSender = isOfSender && header.path("sender_id").equals(NODES.textNode(peer.senderId));
    requireSigned(isOfSender, "kidId must name the sender_id of the header, and a key of it");
    boolean isAlgorithm = SPELLINGS.contains(parts[2]) && parts[2].equals(values.get("algorithm"));
    requireSigned(isAlgorithm, "the algorithm must be one that is accepted of this sender");
    boolean isForm = peer.namespaces.contains(values.get("namespace")) && values.get("headers").equals(HEADERS);
    requireSigned(isForm, "namespace and headers must be those that are accepted");
    String created = values.get("created"), expires = values.get("expires");
    boolean areWhole = (created + " " + expires).matches("(0|[1-9]\\d{0,10}) (0|[1-9]\\d{0,10})");
    requireSigned(areWhole, "created and expires must be Unix times in whole seconds");
    long from = Long.parseLong(created), to = Long.parseLong(expires), at = now.getEpochSecond();
    boolean isFresh = to > from && to - from <= LONGEST_LIFE && from <= at + SKEW && to >= at - SKEW;
    requireSigned(isFresh, "is not fresh");
    boolean isBase64 = values.get("signature").matches("[A-Za-z0-9+/]{85}[AQgw]=="); // 64 bytes.
    requireSigned(isBase64, "must be base64 in its one spelling");
    byte[] value = Base64.getDecoder().decode(values.get("signature"));
    boolean isSigned = hasSigned(peer.keys.find(parts[1]), signedText(header, message, created, expires), value);
    requireSigned(isSigned, "no key of the sender has signed this header and message");
  }
  private static void requireSigned(boolean holds, String rule) { require(holds, UNSIGNED, 401, "signature: " + rule); }
  private static boolean hasSigned(PublicKey key, byte[] content, byte[] value) {
    try {
      Signature signature = Signature.getInstance("Ed25519");
      signature.initVerify(key);
      signature.update(content);
      return signature.verify(value);
    } catch (GeneralSecurityException error) { // There is no such key, or it is no signature at all.
      return false;
    }
  }
  private static Map<String, String> parameters(String signature) {
    Map<String, String> values = new HashMap<>();
    String text = signature.replaceFirst("^Signature: ", "");
    Matcher found = PARAMETER.matcher(text);
    int at = 0;
    // To search behind `at` too would take the square of the length, before anything is verified.
    while (found.region(at, text.length()).lookingAt() && values.put(found.group(1), found.group(2)) == null) {
      at = found.end();
    }
    boolean isList = at == text.length() && values.keySet().equals(NAMES);
    requireSigned(isList, "must be a list of name=\"value\", seven of them, each once");
    return values;
  }
  // The client ------------------------------------------------------------------------------------------------------
  private static final int MAX_ANSWER = 50 << 20; // Bytes.
  /** Redirects are not followed: a token and the data of a person go to the address that was meant, and to no other. */
  private static final HttpClient HTTP =
    HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(10)).build();
  private static final Duration PATIENCE = Duration.ofSeconds(30); // For the head of an answer, and again for its body.
  private record Answer(int status, byte[] body, String retryAfter) {}

  private static URI https(String address) {
    boolean isSafe = address.matches("https://.*|http://(127\\.0\\.0\\.1|localhost|\\[::1])(:\\d+)?(/.*)?");
    if (!isSafe) throw new IllegalArgumentException(address + " must begin with https://, except on this machine");
    return URI.create(address);
  }
  private static Answer send(HttpRequest.Builder request) throws IOException, InterruptedException {
    var answer = HTTP.send(request.timeout(PATIENCE).build(), HttpResponse.BodyHandlers.ofInputStream());
    // The timeout of the request has ended with the head. To read a body that was closed throws IOException.
    CompletableFuture.delayedExecutor(PATIENCE.toSeconds(), TimeUnit.SECONDS).execute(() -> {
      try { answer.body().close(); } catch (IOException error) { /* It is of no use any more. */ }
    });
    try (InputStream body = answer.body()) {
      byte[] data = body.readNBytes(MAX_ANSWER + 1);
      require(data.length <= MAX_ANSWER, BAD, 400, "body: the answer is too long");
      return new Answer(answer.statusCode(), data, answer.headers().firstValue("Retry-After").orElse(""));
    }
  }
  /** Sends the same message again after a lost connection, 429, 502, 503 and 504: a registry answers it once. */
  private static Answer sendUntilAnswered(HttpRequest.Builder request) throws IOException, InterruptedException {
    for (int attempt = 0; ; attempt++) {
      long pause = 1L << attempt;
      try {
        Answer answer = send(request);
        if (!Set.of(429, 502, 503, 504).contains(answer.status) || attempt == 3) return answer;
        if (answer.retryAfter.matches("[0-9]{1,4}")) pause = Math.min(Long.parseLong(answer.retryAfter), 60);
      } catch (IOException error) {
        if (attempt == 3) throw error;
      }
      Thread.sleep(pause * 1000);
    }
  }
  private static HttpRequest.Builder post(String address, String type, String body) {
    var content = HttpRequest.BodyPublishers.ofString(body);
    return HttpRequest.newBuilder(https(address)).header("Content-Type", type).POST(content);
  }

  /** Access tokens of one registry, each used until a minute before it expires. */
  public static final class Tokens {
    private final String address, form;
    private String token;
    private double ends = NEVER;
    public Tokens(String address, String clientId, String clientSecret) {
      this.address = https(address).toString();
      form = "grant_type=client_credentials&client_id=" + URLEncoder.encode(clientId, UTF_8)
        + "&client_secret=" + URLEncoder.encode(clientSecret, UTF_8);
    }
    synchronized String get() throws IOException, InterruptedException {
      if (seconds() < ends) return token;
      Answer answer = sendUntilAnswered(post(address, "application/x-www-form-urlencoded", form));
      String rule = "the registry gave no access token (HTTP " + answer.status + ")";
      require(answer.status == 200, "token", answer.status, rule);
      JsonNode issued = readJson(answer.body);
      token = issued.path("access_token").asText();
      ends = seconds() + issued.path("expires_in").asLong(60) - 60;
      return token;
    }
    private synchronized void drop(String refused) { if (refused.equals(token)) ends = NEVER; }
  }

  /** One registry that we ask. Its baseUrl is such as https://registry.example.org/civil/v1.0.0, with the version; the
   *  peer says by what we believe its answers. */
  public record Registry(String baseUrl, Peer peer, String senderId, SigningKey key, Tokens tokens) {
    public Registry { https(baseUrl); }

    /** Asks at once. Returns the envelope of the answer, which is verified. */
    public JsonNode search(ObjectNode... criteria) throws Exception {
      return ask("registry/sync/search", searchHeader(criteria), searchMessage(criteria));
    }
    /** Asks to be called back, at the full address senderUri, or where that is null at the address that is
     *  registered for us. Returns the correlation_id of the callback. */
    public String searchLater(String senderUri, ObjectNode... criteria) throws Exception {
      ObjectNode header = searchHeader(criteria);
      if (senderUri != null) header.put("sender_uri", senderUri);
      return askLater("registry/search", header, searchMessage(criteria));
    }

    private static ObjectNode searchHeader(ObjectNode[] criteria) {
      return NODES.objectNode().put("action", "search").put("total_count", criteria.length);
    }
    private static ObjectNode searchMessage(ObjectNode[] criteria) {
      ObjectNode message = NODES.objectNode().put("transaction_id", UUID.randomUUID().toString());
      ArrayNode items = message.putArray("search_request");
      for (ObjectNode asked : criteria) {
        ObjectNode item = items.addObject().put("reference_id", String.valueOf(items.size()));
        item.put("timestamp", now()).set("search_criteria", asked);
      }
      return message;
    }

    /** Asks at once, at any synchronous path. The header has its action, and what else it needs, such as meta. */
    public JsonNode ask(String path, JsonNode header, JsonNode message) throws Exception {
      JsonNode envelope = answered(path, header, message);
      verify(envelope, peer, Instant.now());
      boolean isForUs = envelope.at("/header/receiver_id").asText().equals(senderId);
      require(isForUs, "err.receiver_id.invalid", 400, "header.receiver_id: the answer is not for us");
      boolean isOurs = envelope.at("/message/transaction_id").equals(message.get("transaction_id"));
      require(isOurs, BAD, 400, "message.transaction_id: the answer is to another request");
      refuseEncrypted(envelope);
      refuseUnprocessed(envelope.get("header"), envelope.get("message"));
      return envelope;
    }
    /** Asks to be called back, at any asynchronous path. Returns the correlation_id. */
    public String askLater(String path, JsonNode header, JsonNode message) throws Exception {
      return answered(path, header, message).at("/message/correlation_id").asText();
    }
    /** Signs and sends one message. Returns the answer, which is not verified. */
    private JsonNode answered(String path, JsonNode given, JsonNode message) throws Exception {
      ObjectNode header = NODES.objectNode().put("version", "1.0.0").put("message_id", UUID.randomUUID().toString())
        .put("message_ts", now()).put("sender_id", senderId).put("receiver_id", peer.senderId)
        .put("total_count", 1).put("is_msg_encrypted", false);
      header.setAll((ObjectNode) given);
      ObjectNode envelope = NODES.objectNode().put("signature", sign(header, message, key));
      Answer answer = send(path, canonical(envelope.setAll(Map.of("header", header, "message", message))));
      JsonNode answered = NODES.missingNode();
      try {
        answered = parsed(answer.body);
      } catch (Refused unread) { /* It is no answer of a registry. */ }
      boolean isTaken = answer.status == 200 && answered.at("/message/ack_status").asText("ACK").equals("ACK");
      if (isTaken && answered.isObject()) return answered;
      JsonNode told = answered.at("/message/error"), error = told.isObject() ? told : answered.at("/errors/0");
      String text = error.path("message").asText("the registry answered HTTP " + answer.status);
      throw new Refused(error.path("code").asText("http"), text, answer.status);
    }

    /** Sends one message. A token that is refused is replaced once: its key may have been revoked. */
    private Answer send(String path, String body) throws IOException, InterruptedException {
      for (boolean isRenewed = false; ; isRenewed = true) {
        String token = tokens.get();
        var request = post(baseUrl + "/" + path, "application/json", body).header("Authorization", "Bearer " + token);
        Answer answer = sendUntilAnswered(request);
        boolean isOfToken = answer.status == 401 && !new String(answer.body, UTF_8).contains("err.signature.");
        if (!isOfToken || isRenewed) return answer;
        tokens.drop(token);
      }
    }
  }

  private static final double NEVER = Double.NEGATIVE_INFINITY; // In seconds of a clock that nobody sets.
  private static double seconds() { return System.nanoTime() / 1e9; }
  private static String now() { return Instant.ofEpochMilli(System.currentTimeMillis()).toString(); }
  private static JsonNode parsed(byte[] body) {
    JsonNode envelope = readJson(body);
    require(envelope.path("message").isObject(), BAD, 400, "body: must be an object with a message");
    return envelope;
  }
  private static void refuseEncrypted(JsonNode envelope) {
    boolean isSealed = envelope.at("/header/is_msg_encrypted").asBoolean() || envelope.get("message").has("ciphertext");
    require(!isSealed, "err.encryption.invalid", 400, "message: encrypted messages are not read here");
  }
  /** The list of items is empty where the whole request was rejected, as if nobody was found. Where each item was
   *  rejected, the items say more. An answer without a list may be a result: it is a rejection when it has a code. */
  private static void refuseUnprocessed(JsonNode header, JsonNode message) {
    List<JsonNode> lists = new ArrayList<>();
    message.forEach(part -> { if (part.isArray()) lists.add(part); });
    boolean isEmpty = lists.stream().allMatch(JsonNode::isEmpty), hasCode = header.hasNonNull("status_reason_code");
    boolean isResult = lists.isEmpty() ? !hasCode : !isEmpty;
    String text = header.path("status_reason_message").asText("nothing was processed");
    boolean isTaken = isResult || !header.path("status").asText().equals("rjct");
    require(isTaken, header.path("status_reason_code").asText("rjct"), 200, text);
  }
  // The receiver of callbacks ---------------------------------------------------------------------------------------
  /** Which messages were handled, in this process alone. A system that must not handle a message twice after a restart
   *  extends this class with a table of its database, with the primary key (sender_id, message_id). */
  public static class Memory {
    private record Claim(double at, String state) {}
    private final Map<List<String>, Claim> claims = new LinkedHashMap<>();

    /** "new": it is ours to handle now. "busy": it is being handled. "done": it was handled. */
    public synchronized String claim(String senderId, String messageId) {
      Iterator<Claim> first = claims.values().iterator();
      double oldest = seconds() - 361 * 3600; // Longer than a receiver takes old messages.
      while (first.hasNext() && (first.next().at < oldest || claims.size() >= 100_000)) first.remove();
      Claim known = claims.putIfAbsent(List.of(senderId, messageId), new Claim(seconds(), "busy"));
      return known == null ? "new" : known.state;
    }
    /** A message that was not handled is new when it comes again. */
    public synchronized void settle(String senderId, String messageId, boolean isHandled) {
      claims.remove(List.of(senderId, messageId));
      if (isHandled) claims.put(List.of(senderId, messageId), new Claim(seconds(), "done"));
    }
  }

  public record Acknowledgement(int status, byte[] body) {}
  /** Takes callbacks: believes what a known registry has signed for us, handles it once, and acknowledges it then.
   *  @param handlers by action, such as on-search, called with the header and the message. When one returns, the
   *    callback is acknowledged, and when it throws, the registry sends it again.
   *  @param authorization what that header must say, where the registry was told to send one; else null */
  public record Receiver(String senderId, List<Peer> peers, Map<String, BiConsumer<JsonNode, JsonNode>> handlers,
      String authorization, Memory memory) {
    public static final int MAX_BODY = 10 << 20; // Bytes.
    /** A registry sends a notification for 14 days, with the time of the first attempt and each time signed anew. */
    private static final Duration OLDEST = Duration.ofDays(15), NEWEST = Duration.ofMinutes(5);

    /** Takes the body of a POST. Whoever reads the request stops at MAX_BODY bytes and one more. */
    public Acknowledgement receive(byte[] body, String contentType, String givenAuthorization) {
      try {
        return acknowledged(200, take(body, contentType, givenAuthorization), null);
      } catch (Refused refusal) {
        return acknowledged(refusal.status, null, refusal);
      } catch (Exception error) { // Whatever failed here, the registry sends the message again.
        // The text of an error may have data of persons; the places where it was raised have none.
        String failure = "a callback was not handled: " + error.getClass().getName();
        for (StackTraceElement place : error.getStackTrace()) failure += "\n  at " + place;
        System.getLogger("rollcall").log(System.Logger.Level.ERROR, failure);
        String text = "the message was not handled; send it again later";
        return acknowledged(500, null, new Refused("err.service.unavailable", text, 500));
      }
    }

    private String take(byte[] body, String contentType, String given) throws Exception {
      byte[] wanted = authorization == null ? null : authorization.getBytes(UTF_8);
      boolean mayPass = wanted == null || MessageDigest.isEqual(wanted, String.valueOf(given).getBytes(UTF_8));
      require(mayPass, "err.request.unauthorized", 401, "the access token is missing or not valid");
      require(body.length <= MAX_BODY, BAD, 413, "body: is too long");
      boolean isJson = String.valueOf(contentType).matches("(?i)application/json(\\s*;.*)?");
      require(isJson, BAD, 415, "Content-Type: must be application/json");
      // Who says it? Nothing of the message is believed before its signature is verified.
      JsonNode envelope = parsed(body), header = envelope.path("header"), message = envelope.get("message");
      boolean areTexts = header.path("sender_id").isTextual() && header.path("action").isTextual();
      areTexts = areTexts && header.path("message_id").isTextual();
      require(areTexts, BAD, 400, "header: sender_id, action and message_id must be texts");
      String sender = header.get("sender_id").textValue(), id = header.get("message_id").textValue();
      Peer peer = peers.stream().filter(one -> one.senderId.equals(sender)).findFirst().orElse(null);
      String known = "header.sender_id: must be a registry that this receiver knows";
      // With this status it is sent again, also when we wrote the name of a registry wrongly.
      require(peer != null, "err.sender_id.invalid", 403, known);
      verify(envelope, peer, Instant.now());
      // Is it for us, is it fresh, and does somebody here take it?
      boolean isForUs = header.path("receiver_id").asText().equals(senderId);
      require(isForUs, "err.receiver_id.invalid", 400, "header.receiver_id: is not this system");
      Instant sent = instant(header.path("message_ts").asText()), now = Instant.now();
      boolean isFresh = !sent.isBefore(now.minus(OLDEST)) && !sent.isAfter(now.plus(NEWEST));
      require(isFresh, BAD, 400, "header.message_ts: is too old, or in the future");
      refuseEncrypted(envelope);
      BiConsumer<JsonNode, JsonNode> handler = handlers.get(header.get("action").textValue());
      require(handler != null, "err.request.not_found", 404, "header.action: nothing here takes it");
      // A message comes again until it is acknowledged: it is handled once, and acknowledged after that.
      String claim = memory.claim(sender, id), busy = "the message is being handled; send it again later";
      require(!claim.equals("busy"), "err.service.unavailable", 503, busy);
      boolean isHandled = claim.equals("done");
      try {
        if (!isHandled) handler.accept(header, message);
        isHandled = true;
      } finally {
        memory.settle(sender, id, isHandled);
      }
      return message.path("correlation_id").textValue();
    }
    private static Instant instant(String timestamp) {
      try {
        return OffsetDateTime.parse(timestamp).toInstant();
      } catch (DateTimeException error) {
        throw new Refused(BAD, "header.message_ts: must be a date-time with a time zone", 400);
      }
    }
    private static Acknowledgement acknowledged(int status, String correlationId, Refused refusal) {
      String id = correlationId == null ? UUID.randomUUID().toString() : correlationId;
      ObjectNode answer = NODES.objectNode(), message = answer.putObject("message");
      message.put("ack_status", refusal == null ? "ACK" : "ERR").put("timestamp", now()).put("correlation_id", id);
      if (refusal != null) {
        ObjectNode error = NODES.objectNode().put("code", refusal.code).put("message", refusal.getMessage());
        message.set("error", error);
        answer.putArray("errors").add(error);
      }
      return new Acknowledgement(status, canonical(answer).getBytes(UTF_8));
    }
  }
}
