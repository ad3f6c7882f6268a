//! Sends sequential GETs on one connection, with std.http.Client.

const std = @import("std");

pub fn main(init: std.process.Init) !u8 {
    const args = try init.minimal.args.toSlice(init.arena.allocator());
    if (args.len != 3) return usage();
    const url = args[1];
    const requests = std.fmt.parseUnsigned(u32, args[2], 10) catch return usage();

    const body_bytes = fetch(init, url, requests) catch |err| {
        std.debug.print("{s}: {t}\n", .{ url, err });
        return 1;
    };

    var buffer: [64]u8 = undefined;
    var stdout: std.Io.File.Writer = .init(.stdout(), init.io, &buffer);
    try stdout.interface.print("{d} {d}\n", .{ requests, body_bytes });
    try stdout.interface.flush();
    return 0;
}

/// Sends the requests and returns the total size of all bodies, in bytes.
fn fetch(init: std.process.Init, url: []const u8, requests: u32) !u64 {
    const uri = try std.Uri.parse(url);
    var client: std.http.Client = .{ .allocator = init.gpa, .io = init.io };
    defer client.deinit();
    var body: std.Io.Writer.Allocating = .init(init.gpa);
    defer body.deinit();

    var body_bytes: u64 = 0;
    for (0..requests) |_| {
        body.clearRetainingCapacity();
        try get(&client, uri, &body.writer);
        body_bytes += body.written().len;
    }
    return body_bytes;
}

fn get(client: *std.http.Client, uri: std.Uri, body: *std.Io.Writer) !void {
    var request = try client.request(.GET, uri, .{});
    defer request.deinit();
    try request.sendBodiless();
    var redirect_buffer: [8 * 1024]u8 = undefined;
    var response = try request.receiveHead(&redirect_buffer);
    if (response.head.status != .ok) return error.StatusIsNot200;
    const length = response.head.content_length;
    const received = try response.reader(&.{}).streamRemaining(body);
    // The library mistakes a body that ends early for a complete one.
    if (length != null and length != received) return error.BodyEndedEarly;
}

fn usage() u8 {
    std.debug.print("usage: client URL REQUESTS\n", .{});
    return 2;
}
