using Microsoft.AspNetCore.Mvc;

namespace Plaintext.Controllers;

/// <summary>Answers <c>/</c>. Kestrel adds Server and Date, and omits the body of an answer to HEAD.</summary>
[ApiController]
[Route("/")]
public sealed class PlaintextController : ControllerBase
{
    [HttpGet]
    [HttpHead]
    public ContentResult Get() => Content("Hello, World!", "text/plain");
}
