import com.sun.net.httpserver.HttpServer;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;

/** A server with one thread: {@code java Server.java HOST PORT}. */
public final class Server {
    private static final byte[] BODY = "Hello, World!".getBytes(StandardCharsets.UTF_8);

    public static void main(String[] arguments) throws Exception {
        System.setProperty("sun.net.httpserver.nodelay", "true");
        System.setProperty("sun.net.httpserver.maxIdleConnections", "1024"); // by default, it closes all idle connections but 200
        var server = HttpServer.create(new InetSocketAddress(arguments[0], Integer.parseInt(arguments[1])), 1024);
        server.createContext("/", exchange -> {
            exchange.getResponseHeaders().set("Content-Type", "text/plain");
            exchange.sendResponseHeaders(200, BODY.length);
            try (var body = exchange.getResponseBody()) {
                body.write(BODY);
            }
        });
        server.start();
    }
}
