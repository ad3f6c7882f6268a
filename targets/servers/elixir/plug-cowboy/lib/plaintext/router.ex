defmodule Plaintext.Router do
  @moduledoc "Cowboy adds Server and Date, and leaves the body of an answer to HEAD out."
  use Plug.Router

  plug Plug.Head
  plug :match
  plug :dispatch

  get "/" do
    conn
    |> put_resp_content_type("text/plain")
    |> send_resp(200, "Hello, World!")
  end

  match _ do
    send_resp(conn, 404, "Not Found")
  end
end
