"""Callbacks in a Flask application: `app.register_blueprint(callbacks(receiver), url_prefix="/registry")`."""
from flask import Blueprint, Response, request


def callbacks(receiver):
    """:param receiver: a rollcall.Receiver"""
    blueprint = Blueprint("callbacks", __name__)

    @blueprint.post("/<path:path>")
    def take(path):
        body = request.stream.read(receiver.max_body + 1)
        headers = request.headers
        status, answer = receiver.receive(body, headers.get("Content-Type"), headers.get("Authorization"))
        return Response(answer, status, mimetype="application/json")

    return blueprint
