/// The part of Node's http_parser 2.9, a C library, that is used here.
module c_http_parser;

extern (C) nothrow:

enum HTTP_REQUEST = 0;

struct http_parser
{
    uint state; // private bit fields of the parser
    uint nread;
    ulong content_length;
    ushort http_major;
    ushort http_minor;
    uint result; // bit fields: status, method, error, upgrade
    void* data;
}

static assert(http_parser.sizeof == 32);

alias http_data_cb = int function(http_parser*, const char* at, size_t length);
alias http_cb = int function(http_parser*);

struct http_parser_settings
{
    http_cb on_message_begin;
    http_data_cb on_url;
    http_data_cb on_status;
    http_data_cb on_header_field;
    http_data_cb on_header_value;
    http_cb on_headers_complete;
    http_data_cb on_body;
    http_cb on_message_complete;
    http_cb on_chunk_header;
    http_cb on_chunk_complete;
}

void http_parser_init(http_parser* parser, int type);
size_t http_parser_execute(http_parser* parser, const http_parser_settings* settings, const char* data, size_t length);
int http_should_keep_alive(const http_parser* parser);
