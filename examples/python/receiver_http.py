"""A server of callbacks with the standard library alone: for a first try and for tests. In production take the server of
your framework, as receiver_flask.py and receiver_fastapi.py do, with a proxy before it that speaks TLS."""
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def callback_server(receiver, port=0, host="127.0.0.1"):
    """Start it with `threading.Thread(target=server.serve_forever, daemon=True).start()`. It has its port in
    `server.server_port`, and takes callbacks at every path."""

    class Handler(BaseHTTPRequestHandler):
        timeout = 30  # Seconds for a sender that is slow.

        def do_POST(self):
            length = self.headers.get("Content-Length", "")
            size = int(length) if length.isascii() and length.isdigit() and len(length) < 12 else 0
            # More than one byte beyond the limit need not be read to be refused.
            body = self.rfile.read(min(size, receiver.max_body + 1))
            headers = self.headers
            status, answer = receiver.receive(body, headers.get("Content-Type"), headers.get("Authorization"))
            self.close_connection = True
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_GET(self):
            self.send_response(405)
            self.send_header("Allow", "POST")
            self.send_header("Content-Length", "0")
            self.end_headers()

        do_HEAD = do_PUT = do_DELETE = do_GET

        def log_message(self, *_):
            pass  # One line for each request helps nobody here.

    return ThreadingHTTPServer((host, port), Handler)
