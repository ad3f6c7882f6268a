# frozen_string_literal: true

# A Rack application. Puma sends neither Server nor Date, so they are ours; the date is made anew once a second.

require "time"

class Hello
  BODY = ["Hello, World!"].freeze
  LENGTH = BODY.first.bytesize.to_s.freeze

  def call(env)
    return [404, headers("0"), []] unless env["PATH_INFO"] == "/"

    [200, headers(LENGTH), BODY] # Puma leaves the body out of answers to HEAD
  end

  private

  def headers(length)
    { "content-type" => "text/plain", "content-length" => length, "server" => "puma", "date" => date }
  end

  def date
    now = Time.now
    second = now.to_i
    @second, @date = second, now.httpdate unless @second == second
    @date
  end
end

run Hello.new
