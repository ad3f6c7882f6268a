using System.Buffers;
using System.IO.Pipelines;
using System.Text;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http;
using HttpMethod = Microsoft.AspNetCore.Server.Kestrel.Core.Internal.Http.HttpMethod;

namespace Plaintext;

/// <summary>Hands each connection that Kestrel accepts to a <see cref="PlaintextConnection"/>.</summary>
public sealed class PlaintextHandler : ConnectionHandler
{
    public override Task OnConnectedAsync(ConnectionContext connection) =>
        new PlaintextConnection(connection.Transport).RunAsync();
}

/// <summary>Reads requests with Kestrel's parser and answers all requests of one read with one flush.</summary>
internal sealed class PlaintextConnection(IDuplexPipe transport)
{
    private enum State
    {
        RequestLine,
        Headers
    }

    private readonly HttpParser<Handler> _parser = new();
    private State _state = State.RequestLine;
    private bool _isRoot;
    private bool _isHead;
    private bool _isGet;
    private bool _closeAfter;

    public async Task RunAsync()
    {
        try
        {
            while (true)
            {
                var read = await transport.Input.ReadAsync();
                if (read.Buffer.IsEmpty && read.IsCompleted)
                    return;
                Answer(read.Buffer);
                var flush = await transport.Output.FlushAsync();
                if (_closeAfter || read.IsCompleted || flush.IsCompleted)
                    return;
            }
        }
        catch (Exception e) when (e is ConnectionResetException or ConnectionAbortedException or BadHttpRequestException)
        {
            // The client is gone or doesn't speak HTTP. Kestrel closes the connection when we return.
        }
    }

    /// <summary>Answers the complete requests in <paramref name="buffer"/> and leaves the rest for the next read.</summary>
    private void Answer(in ReadOnlySequence<byte> buffer)
    {
        var reader = new SequenceReader<byte>(buffer);
        while (!_closeAfter && ParseRequest(ref reader))
            transport.Output.Write(ChooseAnswer());
        transport.Input.AdvanceTo(reader.Position, buffer.End);
    }

    private bool ParseRequest(ref SequenceReader<byte> reader)
    {
        if (_state == State.RequestLine)
        {
            if (!_parser.ParseRequestLine(new Handler(this), ref reader))
                return false;
            _state = State.Headers;
        }
        if (!_parser.ParseHeaders(new Handler(this), ref reader))
            return false;
        _state = State.RequestLine;
        return true;
    }

    private ReadOnlySpan<byte> ChooseAnswer()
    {
        var answers = Answers.Current;
        if (!_isRoot || !(_isGet || _isHead))
            return answers.NotFound;
        return _isHead ? answers.OkHead : answers.Ok;
    }

    /// <summary>The callbacks of the parser. A struct, so that the parser is compiled for it without indirection.</summary>
    private readonly struct Handler(PlaintextConnection connection) : IHttpRequestLineHandler, IHttpHeadersHandler
    {
        public void OnStartLine(HttpVersionAndMethod versionAndMethod, TargetOffsetPathLength targetPath, Span<byte> startLine)
        {
            connection._isGet = versionAndMethod.Method == HttpMethod.Get;
            connection._isHead = versionAndMethod.Method == HttpMethod.Head;
            connection._isRoot = startLine.Slice(targetPath.Offset, targetPath.Length).SequenceEqual("/"u8);
            connection._closeAfter = versionAndMethod.Version == HttpVersion.Http10;
        }

        public void OnHeader(ReadOnlySpan<byte> name, ReadOnlySpan<byte> value)
        {
            if (Ascii.EqualsIgnoreCase(name, "Connection"u8) && Ascii.EqualsIgnoreCase(value, "close"u8))
                connection._closeAfter = true;
            else if (Ascii.EqualsIgnoreCase(name, "Transfer-Encoding"u8))
                connection._closeAfter = true; // bodies aren't read, and their bytes must not be mistaken for a request
            else if (Ascii.EqualsIgnoreCase(name, "Content-Length"u8) && !value.SequenceEqual("0"u8))
                connection._closeAfter = true;
        }

        public void OnHeadersComplete(bool endStream)
        {
        }

        public void OnStaticIndexedHeader(int index)
        {
            // HTTP/2 only.
        }

        public void OnStaticIndexedHeader(int index, ReadOnlySpan<byte> value)
        {
            // HTTP/2 only.
        }
    }
}
