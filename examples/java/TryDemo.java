import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.file.*;
import java.util.*;
import java.util.concurrent.*;

/**
 * A signed search, its verified answer, and a callback, against the demo. Its first argument is the file demo.json;
 * more arguments, such as UIN=8128560370, are the identifiers to search for.
 */
public final class TryDemo {
  public static void main(String... words) throws Exception {
    if (words.length == 0) {
      System.err.println("usage: java TryDemo .rollcall/demo.json [TYPE=VALUE ...]");
      System.exit(2);
    }
    try {
      List<String> identifiers = Arrays.asList(words).subList(1, words.length);
      ask(Path.of(words[0]), identifiers.isEmpty() ? List.of("UIN=8128560370") : identifiers);
    } catch (Rollcall.Refused refusal) {
      System.err.println("refused: " + refusal.code + ": " + refusal.getMessage());
      System.exit(1);
    }
    System.exit(0);
  }

  private static void ask(Path file, List<String> identifiers) throws Exception {
    JsonNode demo = Rollcall.readJson(Files.readAllBytes(file));
    // The operator of a real registry tells you these: the addresses, your sender_id, client_id and client_secret.
    JsonNode participant = demo.get("participant"), civil = demo.at("/registries/0");
    String base = demo.get("base_url").asText(), us = participant.get("sender_id").asText();
    var keys = new Rollcall.KeySet(base + "/.well-known/jwks.json");
    var peer = new Rollcall.Peer(civil.get("receiver_id").asText(), keys);
    String clientId = participant.get("client_id").asText(), clientSecret = participant.get("client_secret").asText();
    var registry = new Rollcall.Registry(
      base + "/" + civil.get("namespace").asText() + "/v1.0.0",
      peer,
      us,
      Rollcall.SigningKey.fromJwk(participant.at("/sign/private_jwk")), // Yours is in a file: SigningKey.fromFile.
      new Rollcall.Tokens(demo.get("token_url").asText(), clientId, clientSecret));

    // Ask at once. The answer is verified: what cannot be believed is thrown as Refused.
    for (String identifier : identifiers) {
      try {
        JsonNode answer = registry.search(question(identifier));
        System.out.println("answered by " + found(answer.get("header"), answer.get("message")));
      } catch (Rollcall.Refused refusal) {
        System.out.println("refused: " + refusal.code + ": " + refusal.getMessage());
      }
    }

    // Ask to be called back, at a server in this process.
    var arrived = new CompletableFuture<String>();
    var asked = new CompletableFuture<String>();
    var receiver = new Rollcall.Receiver(us, List.of(peer), Map.of("on-search", (header, message) -> {
      if (message.path("correlation_id").asText().equals(asked.join())) arrived.complete(found(header, message));
    }), null, new Rollcall.Memory());
    int port = ReceiverHttp.start(receiver, 0).getAddress().getPort();
    String senderUri = "http://127.0.0.1:" + port + "/registry/on-search";
    asked.complete(registry.searchLater(senderUri, question(identifiers.get(identifiers.size() - 1))));
    System.out.println("called back by " + arrived.get(60, TimeUnit.SECONDS));
  }

  private static ObjectNode question(String identifier) {
    String[] parts = identifier.split("=", 2);
    ObjectNode criteria = JsonNodeFactory.instance.objectNode().put("query_type", "idtype-value");
    criteria.putObject("query").put("type", parts[0]).put("value", parts[1]);
    return criteria;
  }

  private static String found(JsonNode header, JsonNode message) {
    JsonNode item = message.at("/search_response/0");
    boolean isRejected = item.path("status").asText().equals("rjct");
    int count = item.at("/data/reg_records").size();
    String result = isRejected
      ? "rejected, " + item.path("status_reason_code").asText()
      : count + (count == 1 ? " record" : " records");
    return header.get("sender_id").asText() + ", verified: " + result;
  }
}
