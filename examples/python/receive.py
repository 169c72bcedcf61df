"""Receives callbacks in a process of its own, and appends each of them as a line of JSON to a file:

    python3 receive.py OUR_SENDER_ID REGISTRY_SENDER_ID KEYS FILE [PORT]

KEYS is the address at which the registry publishes its keys, or a file with that JWK set. The variable
CALLBACK_AUTHORIZATION is what the header Authorization of callbacks must say, where you told the registry to send one.
The records are data of persons: no other user of this machine can read the file.
"""
import json
import os
import sys
import threading

from receiver_http import callback_server
from rollcall import Peer, Receiver


def main(sender_id, registry, keys, file, port="8090"):
    if not keys.startswith(("https:", "http:")):
        with open(keys, encoding="utf-8") as jwks:
            keys = json.load(jwks)
    lock = threading.Lock()

    def keep(header, message):
        with lock, open(file, "a", encoding="utf-8", opener=for_us_alone) as lines:
            lines.write(json.dumps({"header": header, "message": message}) + "\n")

    actions = ("on-search", "on-subscribe", "on-unsubscribe", "txn-on-status", "notify")
    authorization = os.environ.get("CALLBACK_AUTHORIZATION")
    receiver = Receiver(sender_id, [Peer(registry, keys)], {action: keep for action in actions}, authorization)
    server = callback_server(receiver, int(port))
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()


def for_us_alone(path, flags):
    return os.open(path, flags, 0o600)


if __name__ == "__main__":
    if len(sys.argv) < 5:
        raise SystemExit(__doc__)
    main(*sys.argv[1:])
