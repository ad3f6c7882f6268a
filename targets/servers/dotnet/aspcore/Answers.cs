using System.Text;

namespace Plaintext;

/// <summary>All possible answers, with the current date. Replaced as a whole once a second, so that a reader sees either the old
/// date or the new one.</summary>
public sealed class Answers
{
    private const string Body = "Hello, World!";

    public static Answers Current { get; private set; } = new();

    public byte[] Ok { get; }
    public byte[] OkHead { get; }
    public byte[] NotFound { get; }

    private Answers()
    {
        // "R" is the format of RFC 1123, which is the IMF-fixdate of RFC 9110, section 5.6.7.
        var common = $"Server: aspcore\r\nDate: {DateTimeOffset.UtcNow:R}\r\n";
        var ok = $"HTTP/1.1 200 OK\r\n{common}Content-Type: text/plain\r\nContent-Length: {Body.Length}\r\n\r\n";
        OkHead = Encoding.ASCII.GetBytes(ok);
        Ok = Encoding.ASCII.GetBytes(ok + Body);
        NotFound = Encoding.ASCII.GetBytes($"HTTP/1.1 404 Not Found\r\n{common}Content-Length: 0\r\n\r\n");
    }

    public static void Refresh() => Current = new Answers();
}
