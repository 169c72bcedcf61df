import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import java.io.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Instant;
import java.util.*;

/**
 * Checks Rollcall.java with the vectors of the folder conformance/signature. With `-`, writes each line of standard
 * input, a JSON text, in its canonical form, or `refused`.
 */
public final class Vectors {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String... words) throws Exception {
    if (words.length == 0) {
      System.err.println("usage: java Vectors conformance/signature");
      System.exit(2);
    }
    if (words[0].equals("-")) writeCanonical();
    else if (!check(Path.of(words[0]))) System.exit(1);
  }

  private static boolean check(Path folder) throws Exception {
    JsonNode keys = JSON.readTree(folder.resolve("keys.json").toFile());
    Map<String, Integer> counts = new TreeMap<>();
    List<String> wrong = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*.json")) {
      for (Path file : files) {
        if (file.endsWith("keys.json")) continue;
        for (JsonNode vector : JSON.readTree(file.toFile())) {
          String found = isClaimed(vector.get("profile")) ? outcome(vector, keys) : "not claimed";
          counts.merge(found, 1, Integer::sum);
          if (found.equals("not claimed") || found.equals(vector.get("expected").asText())) continue;
          wrong.add(file.getFileName() + ": " + vector.get("clause") + ", " + vector.get("name") + ": " + found);
        }
      }
    }
    StringJoiner told = new StringJoiner(", ");
    counts.forEach((name, count) -> told.add(count + " " + name));
    System.out.println(told + "\n" + (wrong.isEmpty() ? "all as expected" : String.join("\n", wrong)));
    return wrong.isEmpty();
  }

  /** Whether Rollcall.java says that it reads signatures of this profile. */
  private static boolean isClaimed(JsonNode profile) {
    String form = profile.get("layout").asText() + " " + profile.get("canonical_form").asText();
    boolean isPlain = form.equals("parameters rfc8785") && profile.get("digest_prefix").asText().isEmpty();
    return isPlain && profile.get("algorithms").size() == 1 && profile.at("/algorithms/0").asText().equals("EdDSA");
  }

  private static String outcome(JsonNode vector, JsonNode keys) throws Exception {
    try {
      JsonNode envelope = Rollcall.readJson(vector.get("body").asText().getBytes(StandardCharsets.UTF_8));
      String sender = envelope.at("/header/sender_id").asText();
      ArrayNode jwks = JSON.createArrayNode();
      for (JsonNode key : keys) if (key.get("sender_id").asText().equals(sender)) jwks.add(key.get("public_jwk"));
      Set<String> namespaces = new HashSet<>();
      vector.get("namespaces").forEach(namespace -> namespaces.add(namespace.asText()));
      var keySet = new Rollcall.KeySet(JSON.createObjectNode().set("keys", jwks).toString());
      Instant now = Instant.ofEpochSecond(vector.get("now").asLong());
      Rollcall.verify(envelope, new Rollcall.Peer(sender, keySet, namespaces), now);
      return "valid";
    } catch (Rollcall.Refused refusal) {
      return refusal.code.equals("err.signature.missing") ? "missing" : "invalid";
    }
  }

  private static void writeCanonical() throws IOException {
    OutputStream bytes = new BufferedOutputStream(new FileOutputStream(FileDescriptor.out));
    PrintStream out = new PrintStream(bytes, false, StandardCharsets.UTF_8);
    // Each byte of the line is one character here, so that the bytes themselves are judged.
    var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.ISO_8859_1));
    for (String line; (line = lines.readLine()) != null; ) {
      try {
        out.print(Rollcall.canonical(Rollcall.readJson(line.getBytes(StandardCharsets.ISO_8859_1))) + "\n");
      } catch (Rollcall.Refused refusal) {
        out.print("refused\n");
      }
    }
    out.flush();
  }
}
