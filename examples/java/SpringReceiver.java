import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.springframework.http.MediaType;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * The receiver in a Spring Boot 3 application, whose configuration makes the Rollcall.Receiver a bean. Put both files
 * into a package of yours. A test compiles this file with Spring 4.3 and Servlet 5, whose names are the same; none runs it.
 */
@RestController
public class SpringReceiver {
  private final Rollcall.Receiver receiver;

  public SpringReceiver(Rollcall.Receiver receiver) {
    this.receiver = receiver;
  }

  @PostMapping("/registry/**")
  public ResponseEntity<byte[]> take(HttpServletRequest request) throws IOException {
    byte[] body = request.getInputStream().readNBytes(Rollcall.Receiver.MAX_BODY + 1);
    var answer = receiver.receive(body, request.getContentType(), request.getHeader("Authorization"));
    return ResponseEntity.status(answer.status()).contentType(MediaType.APPLICATION_JSON).body(answer.body());
  }
}
