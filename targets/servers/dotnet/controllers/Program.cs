// ASP.NET Core with controllers. The address comes from ASPNETCORE_URLS.

var builder = WebApplication.CreateBuilder(args);
builder.Logging.ClearProviders();
builder.Services.AddControllers();

var app = builder.Build();
app.MapControllers();
app.Run();
