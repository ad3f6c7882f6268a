/// The HttpServer of dart:io, in one isolate per worker. The isolates share one listener.
///
/// dart:io doesn't send a date, so each isolate updates one every second.
///
/// Usage: server HOST PORT WORKERS
library;

import 'dart:async';
import 'dart:io';
import 'dart:isolate';

typedef Address = ({String host, int port});

Future<void> main(List<String> arguments) async {
  if (arguments.length != 3) {
    stderr.writeln('usage: server HOST PORT WORKERS');
    exitCode = 2;
    return;
  }
  final address = (host: arguments[0], port: int.parse(arguments[1]));
  final workers = int.parse(arguments[2]);
  for (var i = 1; i < workers; i++) {
    await Isolate.spawn(serve, address);
  }
  await serve(address);
}

Future<void> serve(Address address) async {
  var date = now();
  Timer.periodic(const Duration(seconds: 1), (_) => date = now());

  final server = await HttpServer.bind(address.host, address.port, shared: true);
  server.serverHeader = 'dart';
  server.listen((request) {
    final response = request.response;
    response.headers.set(HttpHeaders.dateHeader, date);
    if (request.uri.path == '/') {
      answerPlaintext(response);
    } else {
      response.statusCode = HttpStatus.notFound;
      response.contentLength = 0;
    }
    response.close();
  });
}

/// Answers with the body. For HEAD, dart:io drops the body and keeps its length.
void answerPlaintext(HttpResponse response) {
  const body = 'Hello, World!';
  response.headers.contentType = ContentType.text;
  response.contentLength = body.length;
  response.write(body);
}

String now() => HttpDate.format(DateTime.now());
