# frozen_string_literal: true

# A Rack application. Puma adds neither Server nor Date, so the application does. It formats the date at most once a second.

require "json"
require "time"

class Hello
  BODY = ["Hello, World!"].freeze
  LENGTH = BODY.first.bytesize.to_s.freeze

  def call(env)
    case env["PATH_INFO"]
    when "/" then [200, headers(LENGTH), BODY] # Puma leaves the body out of answers to HEAD
    when "/json" then json
    else [404, headers("0"), []]
    end
  end

  private

  def json
    body = JSON.generate({ message: "Hello, World!" })
    [200, headers(body.bytesize.to_s, "application/json"), [body]]
  end

  def headers(length, type = "text/plain")
    { "content-type" => type, "content-length" => length, "server" => "puma", "date" => date }
  end

  def date
    now = Time.now
    second = now.to_i
    @second, @date = second, now.httpdate unless @second == second
    @date
  end
end

run Hello.new
