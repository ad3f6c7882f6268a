defmodule Plaintext.Application do
  @moduledoc "Listens on HOST and PORT from the environment."
  use Application

  @impl true
  def start(_type, _args) do
    {:ok, ip} = "HOST" |> System.fetch_env!() |> String.to_charlist() |> :inet.parse_ipv4_address()
    port = "PORT" |> System.fetch_env!() |> String.to_integer()

    children = [
      {Plug.Cowboy,
       scheme: :http,
       plug: Plaintext.Router,
       # By default, Cowboy closes each connection after a thousand requests.
       options: [ip: ip, port: port, protocol_options: [max_keepalive: 1_000_000_000]]}
    ]

    Supervisor.start_link(children, strategy: :one_for_one, name: Plaintext.Supervisor)
  end
end
