// Sends sequential GETs on one connection, with Asio's synchronous calls. Asio has no HTTP support, so this file parses the responses.
// A response without Content-Length is an error.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include <asio.hpp>

using asio::ip::tcp;

struct Address {
    std::string host, port, target;
};

struct Head {
    int status = 0;
    std::optional<std::size_t> content_length{};
    bool close = false;
};

template <typename Number>
std::optional<Number> number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

Address parse_url(std::string_view url) {
    constexpr std::string_view scheme = "http://";
    if (!url.starts_with(scheme)) throw std::runtime_error("the address must start with http://");
    url.remove_prefix(scheme.size());
    const auto slash = std::min(url.find('/'), url.size());
    const auto authority = url.substr(0, slash);
    const auto colon = std::min(authority.find(':'), authority.size());
    const auto port = colon < authority.size() ? authority.substr(colon + 1) : "80";
    const auto target = slash < url.size() ? url.substr(slash) : "/";
    return {std::string(authority.substr(0, colon)), std::string(port), std::string(target)};
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [lower](char x, char y) { return lower(x) == lower(y); });
}

std::string_view trim(std::string_view text) {
    const auto first = std::min(text.find_first_not_of(" \t"), text.size());
    return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// Parses the status line and all header lines in `text`. Each line ends with CRLF.
Head parse_head(std::string_view text) {
    if (!text.starts_with("HTTP/1.1 ") || text.size() < 12) throw std::runtime_error("not an HTTP/1.1 response");
    Head head{.status = number<int>(text.substr(9, 3)).value_or(0)};
    for (auto end = text.find("\r\n"); end != text.npos; end = text.find("\r\n")) {
        text.remove_prefix(end + 2);
        const auto line = text.substr(0, text.find("\r\n"));
        const auto colon = line.find(':');
        if (colon == line.npos) continue;
        const auto name = line.substr(0, colon);
        const auto value = trim(line.substr(colon + 1));
        if (equal_ignoring_case(name, "content-length")) head.content_length = number<std::size_t>(value);
        if (equal_ignoring_case(name, "connection")) head.close = equal_ignoring_case(value, "close");
    }
    return head;
}

class Client {
public:
    explicit Client(const Address& address)
        : host_(address.host),
          port_(address.port),
          request_("GET " + address.target + " HTTP/1.1\r\nHost: " + address.host + ":" + address.port + "\r\nUser-Agent: asio\r\n\r\n") {}

    // Sends a request and returns the length of the response's body.
    std::size_t get() {
        if (!socket_.is_open()) asio::connect(socket_, tcp::resolver(context_).resolve(host_, port_));
        asio::write(socket_, asio::buffer(request_));
        const auto head_size = asio::read_until(socket_, asio::dynamic_buffer(received_), "\r\n\r\n");
        const auto head = parse_head(std::string_view(received_).substr(0, head_size));
        if (head.status != 200) throw std::runtime_error("status " + std::to_string(head.status) + ", expected 200");
        if (!head.content_length) throw std::runtime_error("a response without Content-Length");
        body_.assign(received_, head_size);
        received_.clear();
        const auto arrived = body_.size();
        if (arrived > *head.content_length) throw std::runtime_error("more bytes than Content-Length says");
        body_.resize(*head.content_length);
        asio::read(socket_, asio::buffer(body_) + arrived);
        if (head.close) socket_.close();
        return body_.size();
    }

private:
    std::string host_, port_, request_, received_, body_;
    asio::io_context context_;
    tcp::socket socket_{context_};
};

int main(int argc, char** argv) {
    const auto requests = argc == 3 ? number<std::uint32_t>(argv[2]) : std::nullopt;
    if (!requests) {
        std::cerr << "usage: client URL REQUESTS\n";
        return 2;
    }
    try {
        Client client(parse_url(argv[1]));
        std::uint64_t body_bytes = 0;
        for (std::uint32_t i = 0; i < *requests; ++i) body_bytes += client.get();
        std::cout << *requests << ' ' << body_bytes << '\n';
    } catch (const std::exception& error) {
        std::cerr << argv[1] << ": " << error.what() << '\n';
        return 1;
    }
}
