import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.nio.file.attribute.*;
import java.util.*;
import java.util.function.BiConsumer;

/**
 * Receives callbacks in a process of its own, and appends each of them as a line of JSON to a file.
 *
 * KEYS is the address at which the registry publishes its keys, or a file with that JWK set. The variable
 * CALLBACK_AUTHORIZATION is what the header Authorization of callbacks must say, where you told the registry to send
 * one. The records are data of persons: no other user of this machine can read the file (on Windows, keep it in a folder
 * of your own).
 */
public final class Receive {
  public static void main(String... words) throws Exception {
    if (words.length < 4) {
      System.err.println("usage: java Receive OUR_SENDER_ID REGISTRY_SENDER_ID KEYS FILE [PORT]");
      System.exit(2);
    }
    String keys = words[2].startsWith("http") ? words[2] : Files.readString(Path.of(words[2]));
    Path file = Path.of(words[3]);
    ObjectMapper json = new ObjectMapper();
    boolean hasRights = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] forUsAlone = !hasRights ? new FileAttribute<?>[0] : new FileAttribute<?>[] {
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")) };
    Set<OpenOption> atItsEnd = Set.of(StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    BiConsumer<JsonNode, JsonNode> keep = (header, message) -> {
      JsonNode line = json.createObjectNode().setAll(Map.of("header", header, "message", message));
      synchronized (json) {
        try (var lines = Channels.newOutputStream(Files.newByteChannel(file, atItsEnd, forUsAlone))) {
          lines.write((json.writeValueAsString(line) + "\n").getBytes(StandardCharsets.UTF_8));
        } catch (IOException error) {
          throw new UncheckedIOException(error);
        }
      }
    };
    Map<String, BiConsumer<JsonNode, JsonNode>> handlers = new HashMap<>();
    for (String action : List.of("on-search", "on-subscribe", "on-unsubscribe", "txn-on-status", "notify")) {
      handlers.put(action, keep);
    }
    var peer = new Rollcall.Peer(words[1], new Rollcall.KeySet(keys.strip()));
    String authorization = System.getenv("CALLBACK_AUTHORIZATION");
    var receiver = new Rollcall.Receiver(words[0], List.of(peer), handlers, authorization, new Rollcall.Memory());
    var server = ReceiverHttp.start(receiver, words.length > 4 ? Integer.parseInt(words[4]) : 8090);
    System.out.println("listening on http://127.0.0.1:" + server.getAddress().getPort());
  }
}
