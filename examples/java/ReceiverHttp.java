import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.concurrent.Executors;

/** The receiver on the JDK's own server, at every path. In production put a proxy before it that speaks TLS. */
public final class ReceiverHttp {
  private ReceiverHttp() {}

  /** @param port 0 for any free one; server.getAddress().getPort() has it then */
  public static HttpServer start(Rollcall.Receiver receiver, int port) throws IOException {
    // Seconds for a sender that is slow; they are read when the first server is made.
    System.setProperty("sun.net.httpserver.maxReqTime", "30");
    HttpServer server = HttpServer.create(new InetSocketAddress("127.0.0.1", port), 0);
    server.setExecutor(Executors.newFixedThreadPool(16, work -> {
      Thread thread = new Thread(work);
      thread.setDaemon(true);
      return thread;
    }));
    server.createContext("/", exchange -> {
      try (exchange) {
        if (!exchange.getRequestMethod().equals("POST")) {
          exchange.getResponseHeaders().set("Allow", "POST");
          exchange.sendResponseHeaders(405, -1); // No body.
          return;
        }
        byte[] body = exchange.getRequestBody().readNBytes(Rollcall.Receiver.MAX_BODY + 1);
        var headers = exchange.getRequestHeaders();
        var answer = receiver.receive(body, headers.getFirst("Content-Type"), headers.getFirst("Authorization"));
        exchange.getResponseHeaders().set("Content-Type", "application/json");
        exchange.sendResponseHeaders(answer.status(), answer.body().length);
        exchange.getResponseBody().write(answer.body());
      }
    });
    server.start();
    return server;
  }
}
