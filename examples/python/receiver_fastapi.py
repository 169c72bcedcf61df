"""Callbacks in a FastAPI application: `app.include_router(callbacks(receiver), prefix="/registry")`."""
from fastapi import APIRouter, Request, Response
from fastapi.concurrency import run_in_threadpool


def callbacks(receiver):
    """:param receiver: a rollcall.Receiver; its handlers run in a thread, so they may use a database that blocks"""
    router = APIRouter()

    @router.post("/{path:path}")
    async def take(path: str, request: Request):
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > receiver.max_body:
                break
        headers = request.headers
        status, answer = await run_in_threadpool(
            receiver.receive, bytes(body), headers.get("content-type"), headers.get("authorization")
        )
        return Response(answer, status, media_type="application/json")

    return router
