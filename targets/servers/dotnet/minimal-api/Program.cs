// ASP.NET Core with a minimal API. Kestrel adds Server and Date, and leaves the body of an answer to HEAD out.
// The address comes from ASPNETCORE_URLS.

var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();

var app = builder.Build();
app.MapMethods("/", [HttpMethods.Get, HttpMethods.Head], () => TypedResults.Text("Hello, World!", "text/plain"));
app.Run();
