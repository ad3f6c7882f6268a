"""A WSGI application. meinheld adds Server and Date, but the application must omit the body of answers to HEAD."""

import json

BODY = b"Hello, World!"


def app(environ, start_response):
    if environ["PATH_INFO"] == "/":
        kind, body = "text/plain", BODY
    elif environ["PATH_INFO"] == "/json":
        kind, body = "application/json", json.dumps({"message": "Hello, World!"}).encode()
    else:
        start_response("404 Not Found", [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return []
    start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [body]
