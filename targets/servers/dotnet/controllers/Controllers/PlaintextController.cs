using Microsoft.AspNetCore.Mvc;

namespace Plaintext.Controllers;

/// <summary>Answers <c>/</c>. Kestrel adds Server and Date, and leaves the body of an answer to HEAD out.</summary>
[ApiController]
[Route("/")]
public sealed class PlaintextController : ControllerBase
{
    [HttpGet]
    [HttpHead]
    public ContentResult Get() => Content("Hello, World!", "text/plain");
}
