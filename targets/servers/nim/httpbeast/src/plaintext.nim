## A server that uses httpbeast: each thread has an event loop, and all threads share one port through SO_REUSEPORT.
##
## The library sends Server and Date. It has no router: the handler compares the path.
##
## Usage: plaintext HOST PORT WORKERS

import std/[asyncdispatch, options, os, strutils]
import httpbeast

proc onRequest(request: Request): Future[void] =
  if request.path.get("") == "/":
    request.send(Http200, "Hello, World!", "Content-Type: text/plain")
  else:
    request.send(Http404)

when isMainModule:
  if paramCount() != 3:
    stderr.writeLine("usage: plaintext HOST PORT WORKERS")
    quit(2)
  run(onRequest, initSettings(
    port = Port(parseInt(paramStr(2))),
    bindAddr = paramStr(1),
    numThreads = parseInt(paramStr(3))))
