// ASP.NET Core as its own platform benchmark uses it: Kestrel accepts and schedules, and our handler owns each connection.
//
// Usage: dotnet Plaintext.dll HOST PORT

using System.Net;
using Microsoft.AspNetCore.Connections;
using Plaintext;

if (args is not [var host, var port])
{
    Console.Error.WriteLine("usage: dotnet Plaintext.dll HOST PORT");
    return 2;
}

var builder = WebApplication.CreateSlimBuilder();
builder.Logging.ClearProviders();
builder.WebHost.UseSockets(options =>
{
    options.WaitForDataBeforeAllocatingBuffer = false; // trades memory for speed: each idle connection keeps a buffer
    options.UnsafePreferInlineScheduling = true; // the handler never blocks, so it may run on the thread that polls
});
builder.WebHost.ConfigureKestrel(options =>
    options.Listen(IPAddress.Parse(host), int.Parse(port), listen => listen.UseConnectionHandler<PlaintextHandler>()));

await using var app = builder.Build();
using var clock = new Timer(_ => Answers.Refresh(), null, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(1));
await app.RunAsync();
return 0;
