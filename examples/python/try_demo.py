"""A signed search, its verified answer, and a callback, against the demo:

    python3 try_demo.py ../../.rollcall/demo.json

More arguments, such as UIN=8128560370, are the identifiers to search for.
"""
import json
import queue
import sys
import threading

from receiver_http import callback_server
from rollcall import Peer, Receiver, Refused, Registry, SigningKey


def main(path, *identifiers):
    with open(path, encoding="utf-8") as file:
        demo = json.load(file)
    # The operator of a real registry tells you these: the addresses, your sender_id, client_id and client_secret.
    participant, civil = demo["participant"], demo["registries"][0]
    peer = Peer(civil["receiver_id"], f"{demo['base_url']}/.well-known/jwks.json")
    registry = Registry(
        f"{demo['base_url']}/{civil['namespace']}/v1.0.0",
        peer,
        participant["sender_id"],
        SigningKey.from_jwk(participant["sign"]["private_jwk"]),  # Yours is in a file: SigningKey.from_file.
        demo["token_url"],
        participant["client_id"],
        participant["client_secret"],
    )

    # Ask at once. The answer is verified: what cannot be believed is raised as Refused.
    for identifier in identifiers or ("UIN=8128560370",):
        kind, value = identifier.split("=", 1)
        question = {"query_type": "idtype-value", "query": {"type": kind, "value": value}}
        try:
            header, message = registry.search(question)
            print(f"answered by {header['sender_id']}, verified: {found(message)}")
        except Refused as refusal:
            print(f"refused: {refusal}")

    # Ask to be called back, at a server in this process.
    arrived = queue.Queue()
    handlers = {"on-search": lambda header, message: arrived.put((header, message))}
    server = callback_server(Receiver(participant["sender_id"], [peer], handlers))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    sender_uri = f"http://127.0.0.1:{server.server_port}/registry/on-search"
    correlation_id = registry.search_later(question, sender_uri=sender_uri)
    header, message = arrived.get(timeout=60)
    if message["correlation_id"] != correlation_id:
        raise SystemExit("another callback came")
    print(f"called back by {header['sender_id']}, verified: {found(message)}")


def found(message):
    [item] = message["search_response"]
    if item["status"] == "rjct":
        return f"rejected, {item['status_reason_code']}"
    count = len(item["data"]["reg_records"])
    return f"{count} record" if count == 1 else f"{count} records"


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        raise SystemExit(f"refused: {refusal}") from None
