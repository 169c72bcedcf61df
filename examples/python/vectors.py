"""Checks rollcall.py with the vectors of conformance/signature: `python3 vectors.py ../../conformance/signature`.

With `-`, writes each line of standard input, a JSON text, in its canonical form, or `refused`.
"""
import json
import pathlib
import sys

import rollcall


def claimed(profile):
    """Whether rollcall.py says that it reads signatures of this profile."""
    form = (profile["layout"], profile["canonical_form"])
    return form == ("parameters", "rfc8785") and profile["digest_prefix"] in rollcall.DIGESTS


def outcome(vector, keys):
    """`valid`, `missing` or `invalid`, as the vector expects."""
    profile = vector["profile"]
    try:
        envelope = rollcall.read_json(vector["body"].encode())
        header = envelope.get("header")
        sender_id = header.get("sender_id") if isinstance(header, dict) else None
        jwks = {"keys": [key["public_jwk"] for key in keys if key["sender_id"] == sender_id]}
        peer = rollcall.Peer(
            sender_id, jwks, profile["algorithms"], profile["digest_prefix"], vector["namespaces"]
        )
        rollcall.verify(envelope, peer, vector["now"])
        return "valid"
    except rollcall.Refused as refusal:
        return "missing" if refusal.code == "err.signature.missing" else "invalid"


def check(folder):
    keys = json.loads((folder / "keys.json").read_text("utf-8"))
    counts, wrong = {}, []
    for file in sorted(folder.glob("*.json")):
        for vector in json.loads(file.read_text("utf-8")) if file.name != "keys.json" else []:
            found = outcome(vector, keys) if claimed(vector["profile"]) else "not claimed"
            counts[found] = counts.get(found, 0) + 1
            if found not in (vector["expected"], "not claimed"):
                wrong.append(f"{file.name}: {vector['clause']}, {vector['name']}: {found}")
    print(", ".join(f"{count} {name}" for name, count in sorted(counts.items())))
    print("\n".join(wrong) if wrong else "all as expected")
    return not wrong


def write_canonical():
    for line in sys.stdin.buffer:
        try:
            text = rollcall.canonical(rollcall.read_json(line))
        except rollcall.Refused:
            text = "refused"
        sys.stdout.buffer.write(text.encode() + b"\n")


if __name__ == "__main__":
    if len(sys.argv) < 2:
        raise SystemExit(__doc__)
    if sys.argv[1] == "-":
        write_canonical()
    elif not check(pathlib.Path(sys.argv[1])):
        sys.exit(1)
