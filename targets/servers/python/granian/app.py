"""An ASGI application without a framework. granian adds Server and Date. It omits the body of answers to HEAD only in HTTP/1.1."""

import json


async def app(scope, receive, send):
    assert scope["type"] == "http"
    status, kind, body = 404, b"text/plain", b""
    if scope["path"] == "/":
        status, body = 200, b"Hello, World!"
    elif scope["path"] == "/json":
        status, kind, body = 200, b"application/json", json.dumps({"message": "Hello, World!"}).encode()
    headers = [(b"content-type", kind), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
