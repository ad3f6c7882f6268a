defmodule Plaintext.MixProject do
  use Mix.Project

  def project do
    [
      app: :plaintext,
      version: "1.0.0",
      elixir: "~> 1.14",
      start_permanent: Mix.env() == :prod,
      deps: [{:plug_cowboy, "2.7.4"}]
    ]
  end

  def application do
    [
      extra_applications: [:logger],
      mod: {Plaintext.Application, []}
    ]
  end
end
