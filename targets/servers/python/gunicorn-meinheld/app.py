"""A WSGI application; meinheld adds Server and Date. To leave the body out of answers to HEAD is the application's part here."""

BODY = b"Hello, World!"


def app(environ, start_response):
    if environ["PATH_INFO"] != "/":
        start_response("404 Not Found", [("Content-Type", "text/plain"), ("Content-Length", "0")])
        return []
    start_response("200 OK", [("Content-Type", "text/plain"), ("Content-Length", str(len(BODY)))])
    return [] if environ["REQUEST_METHOD"] == "HEAD" else [BODY]
